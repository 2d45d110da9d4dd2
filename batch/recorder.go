package batch

import (
	"unsafe"

	"handloom/internal/canary"
	"handloom/internal/check"
	"handloom/internal/habit"
	"handloom/shard/handle"
)

// Recorder writes the commands of one table into queues. Every method may be
// called by any goroutine with its own queue.
type Recorder[T any] struct {
	router
	ordinal  int
	prefix   handle.ID // the free bit and the table's first typeId, in their places within a handle
	pointers bool
	segments naming
}

// Init prepares a recorder that lies within a table: ordinal is the table's
// number in its store, first its first typeId, shards their number. pointers
// says whether values of T hold pointers. The batch routes untyped erases of
// those typeIds to the table from now on.
func (r *Recorder[T]) Init(b *Batch, ordinal int, first uint16, shards int, pointers bool) {
	r.router = router{batch: b, list: b.addLists(first, shards), first: first, shards: uint16(shards)}
	r.ordinal, r.pointers = ordinal, pointers
	r.prefix = handle.FreeBit | handle.New(first, 0, 0)
}

// Emplace records that v is to be created and returns its provisional handle,
// or the null handle when the queue is full.
//
// Columns are found by table ordinal and cast without a check: only the table's
// own recorder puts one there, and the batch compare proves that the queue is of
// the same store. A type assertion, or a call for the column, would cost as much
// as the rest of the recording (op=record/kind=emplace).
func (r *Recorder[T]) Emplace(q Queue, v T) handle.Of[T] {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if l := q.lane; l != nil && q.serial == l.serial && l.batch == r.batch && r.ordinal < len(l.columns) {
		if c := (*Column[T])(l.columns[r.ordinal]); c != nil {
			if n := len(c.current); n < cap(c.current) {
				c.current = c.current[:n+1]
				c.current[n] = v
				return handle.Of[T]{ID: c.base + handle.ID(n)}
			}
		}
	}
	return r.emplace(q, v)
}

// emplace is Emplace where an array has to grow first, or the queue must not be
// used at all.
func (r *Recorder[T]) emplace(q Queue, v T) handle.Of[T] {
	c := r.column(q)
	if c == nil || !r.room(q, c) {
		return handle.Of[T]{}
	}
	n := len(c.current)
	c.current = append(c.current, v)
	return handle.Of[T]{ID: c.base + handle.ID(n)}
}

// EmplaceItems records a create per item and appends the provisional handles to
// dst, which it returns; nothing is appended when the queue is full.
func (r *Recorder[T]) EmplaceItems(q Queue, items []T, dst []handle.Of[T]) []handle.Of[T] {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if len(items) == 0 {
		return dst
	}
	c := r.column(q)
	if c == nil || !q.lane.admit(len(items), unsafe.Sizeof(items[0])) {
		return dst
	}
	before := len(dst)
	for len(items) > 0 {
		if len(c.current) == cap(c.current) && !r.room(q, c) {
			return dst[:before]
		}
		at := len(c.current)
		n := min(len(items), cap(c.current)-at)
		c.current = append(c.current, items[:n]...)
		for i := range n {
			dst = append(dst, handle.Of[T]{ID: c.base + handle.ID(at+i)})
		}
		items = items[n:]
	}
	return dst
}

// EmplaceFunc records a create whose value f fills in, knowing its own
// provisional handle; f may record more into the same queue. The pointer is good
// as one of [Recorder.Staged] is. When f panics, the create is cancelled.
func (r *Recorder[T]) EmplaceFunc(q Queue, f func(h handle.Of[T], v *T)) handle.Of[T] {
	var zero T
	h := r.Emplace(q, zero)
	if h.IsZero() {
		return h
	}
	staged, _ := r.Staged(q, h)
	done := false
	defer func() {
		if !done {
			r.Erase(q, h)
		}
	}()
	f(h, staged)
	done = true
	return h
}

// Staged returns the value recorded in q under the provisional handle p, to be
// completed before the pass ends, and whether q holds it. The pointer is good
// until the pass ends.
func (r *Recorder[T]) Staged(q Queue, p handle.Of[T]) (*T, bool) {
	if !q.usable(r.batch) || r.ordinal >= len(q.lane.columns) {
		return nil, false
	}
	c := (*Column[T])(q.lane.columns[r.ordinal])
	if c == nil || !r.names(p.ID) {
		return nil, false
	}
	v := c.find(p.ID)
	c.staged = c.staged || v != nil
	return v, v != nil
}

// names reports whether id is a provisional handle of the table.
func (r *Recorder[T]) names(id handle.ID) bool { return id>>typeShift == r.prefix>>typeShift }

// Erase records that the item h names is to be erased; a provisional handle of
// this batch cancels the create.
func (r *Recorder[T]) Erase(q Queue, h handle.Of[T]) { r.erase(q, h.ID) }

// EraseItems records an erase per handle.
func (r *Recorder[T]) EraseItems(q Queue, hs []handle.Of[T]) {
	if !q.usable(r.batch) || !q.lane.admit(len(hs), idBytes) {
		return
	}
	for _, h := range hs {
		r.erase(q, h.ID)
	}
}

// Put records that the item h names is to be replaced by v; a provisional
// handle of this batch replaces the value of the create.
func (r *Recorder[T]) Put(q Queue, h handle.Of[T], v T) {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	shard := r.shard(h.TypeID())
	if l := q.lane; l != nil && q.serial == l.serial && l.batch == r.batch && r.ordinal < len(l.columns) {
		if c := (*Column[T])(l.columns[r.ordinal]); c != nil {
			puts := &c.puts[shard]
			if n := len(*puts); n < cap(*puts) {
				*puts = (*puts)[:n+1]
				(*puts)[n] = Replacement[T]{h.ID, v}
				return
			}
		}
	}
	var put Replacement[T]
	if c := r.column(q); c != nil && q.lane.admit(1, unsafe.Sizeof(put)) {
		before := cap(c.puts[shard])
		c.puts[shard] = append(grow(c.puts[shard], 1), Replacement[T]{h.ID, v})
		q.lane.roomier(cap(c.puts[shard])-before, unsafe.Sizeof(put))
	}
}

// column returns the queue's column for the table, which it makes at the first
// use in a batch, or nil if the queue has failed.
func (r *Recorder[T]) column(q Queue) *Column[T] {
	if !q.usable(r.batch) {
		return nil
	}
	l := q.lane
	for len(l.columns) <= r.ordinal {
		l.columns = append(l.columns, nil)
		l.spare = append(l.spare, nil)
		l.usedTables = append(l.usedTables, false)
	}
	if c := l.columns[r.ordinal]; c != nil {
		return (*Column[T])(c)
	}
	if l.spare[r.ordinal] == nil {
		l.spare[r.ordinal] = unsafe.Pointer(&Column[T]{
			puts:     make([][]Replacement[T], r.shards),
			put:      make([]habit.Habit, r.shards),
			pointers: r.pointers,
		})
	}
	c := (*Column[T])(l.spare[r.ordinal])
	l.columns[r.ordinal] = l.spare[r.ordinal]
	l.usedTables[r.ordinal] = true
	l.touched = append(l.touched, touched{r.ordinal, c})
	for _, puts := range c.puts {
		var put Replacement[T]
		l.roomier(cap(puts), unsafe.Sizeof(put))
	}
	return c
}

// room makes room for one more create when there is none: in the current segment's
// array, unless somebody may write through a pointer into it, or in a new segment. It reports false, and the queue has failed, when
// that exceeds its limits.
func (r *Recorder[T]) room(q Queue, c *Column[T]) bool {
	var value T
	if !q.lane.admit(1, unsafe.Sizeof(value)) {
		return false
	}
	room := cap(c.current)
	larger := min(max(room*2, r.smallest()), segmentItems)
	switch {
	case c.used == 0 || room == segmentItems:
		larger = r.smallest() // of a segment that begins
	case !c.staged:
		grown := make([]T, room, larger)
		copy(grown, c.current)
		c.current = grown
		q.lane.roomier(cap(grown)-room, unsafe.Sizeof(value))
		if canary.Enabled && canary.On(canary.LastCommandDropped) {
			c.current = grown[:room-1]
		}
		return true
	}
	c.begin(r.segments.next(), r, larger)
	q.lane.roomier(cap(c.current), unsafe.Sizeof(value))
	return true
}

// begin starts the next segment of the column, in an array for n creates unless
// it has one.
func (c *Column[T]) begin(number uint64, r *Recorder[T], n int) {
	c.seal()
	if c.used == len(c.segments) {
		c.segments = append(c.segments, segment[T]{})
	}
	s := &c.segments[c.used]
	s.number = number
	c.used++
	c.base = r.prefix | handle.ID(number)<<offsetBits
	c.current = s.values
	if cap(c.current) == 0 {
		c.current = make([]T, 0, n)
	}
}

// smallest is the number of creates in the first array of a segment: about a
// kilobyte.
func (r *Recorder[T]) smallest() int {
	var v T
	return min(max(1, 1024/max(1, int(unsafe.Sizeof(v)))), 64)
}
