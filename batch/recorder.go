package batch

import (
	"sync/atomic"
	"unsafe"

	"handloom/shard/handle"
)

// Recorder writes the commands of one table into queues. Every method may be
// called by any goroutine with its own queue.
type Recorder[T any] struct {
	batch    *Batch
	ordinal  int
	first    handle.ID // the table's first typeId, in its place within a handle
	shards   uint16
	pointers bool
	segments atomic.Uint64 // low half of the batch's serial << 32 | segment numbers given out in it
}

// Init prepares a recorder that lies within a table: ordinal is the table's
// number in its store, first its first typeId, shards their number. pointers
// says whether values of T hold pointers. The batch routes untyped erases of
// those typeIds to the recorder from now on.
func (r *Recorder[T]) Init(b *Batch, ordinal int, first uint16, shards int, pointers bool) {
	r.batch, r.ordinal, r.pointers = b, ordinal, pointers
	r.first, r.shards = handle.New(first, 0, 0), uint16(shards)
	for len(b.owners) < int(first)+shards {
		b.owners = append(b.owners, nil)
	}
	for i := range shards {
		b.owners[int(first)+i] = r
	}
}

// List returns which list of a column the commands to typeID are in: one per
// shard. Handles of other tables are in the first, whose shard counts them as
// stale, so that no command is lost (B1).
func (r *Recorder[T]) List(typeID uint16) int {
	if list := typeID - r.first.TypeID(); list < r.shards {
		return int(list)
	}
	return 0
}

// column returns the queue's column for the table and counts one command, or
// nil if the queue has reached its limit.
//
// Columns are found by table ordinal and cast without a check: only the table's
// own recorder puts one there, and the serial compare proves that the queue is
// of the same store. A type assertion would cost as much as the rest of the
// recording (op=record).
func (r *Recorder[T]) column(q Queue) *Column[T] {
	if q.serial == r.batch.serial && q.lane.left > 0 && r.ordinal < len(q.lane.columns) {
		if c := q.lane.columns[r.ordinal]; c != nil {
			q.lane.left--
			return (*Column[T])(c)
		}
	}
	return r.firstUse(q, 1)
}

// firstUse is column for n commands where the queue is used for the table the
// first time in a batch, is at its limit, or must not be used at all.
func (r *Recorder[T]) firstUse(q Queue, n int) *Column[T] {
	r.batch.check(q)
	l := q.lane
	if !l.take(n) {
		return nil
	}
	for len(l.columns) <= r.ordinal {
		l.columns = append(l.columns, nil)
		l.spare = append(l.spare, nil)
	}
	if c := l.columns[r.ordinal]; c != nil {
		return (*Column[T])(c)
	}
	if l.spare[r.ordinal] == nil {
		l.spare[r.ordinal] = unsafe.Pointer(&Column[T]{
			erases:   make([][]handle.ID, r.shards),
			puts:     make([][]Replacement[T], r.shards),
			pointers: r.pointers,
		})
	}
	c := (*Column[T])(l.spare[r.ordinal])
	l.columns[r.ordinal] = l.spare[r.ordinal]
	l.touched = append(l.touched, touched{r.ordinal, c})
	return c
}

// Emplace records that v is to be created and returns its provisional handle,
// or the null handle when the queue is full.
func (r *Recorder[T]) Emplace(q Queue, v T) handle.Of[T] {
	c := r.column(q)
	if c == nil {
		return handle.Of[T]{}
	}
	if len(c.current) == cap(c.current) && !r.grow(q, c) {
		return handle.Of[T]{}
	}
	n := len(c.current)
	c.current = c.current[:n+1]
	c.current[n] = v
	return handle.Of[T]{ID: c.base + handle.ID(n)}
}

// EmplaceItems records a create per item and appends the provisional handles to
// dst, which it returns; nothing is appended when the queue is full.
func (r *Recorder[T]) EmplaceItems(q Queue, items []T, dst []handle.Of[T]) []handle.Of[T] {
	if len(items) == 0 {
		return dst
	}
	c := r.firstUse(q, len(items))
	if c == nil {
		return dst
	}
	before := len(dst)
	for len(items) > 0 {
		if len(c.current) == cap(c.current) && !r.grow(q, c) {
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
// provisional handle; f may record more into the same queue. When f panics, the
// create is cancelled.
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
	// When f recorded more creates the array may have grown, and what f wrote
	// since then went to the old one.
	if moved, _ := r.Staged(q, h); moved != staged {
		*moved = *staged
	}
	return h
}

// Staged returns the value recorded in q under the provisional handle p, to be
// completed before the pass ends, and whether q holds it. The pointer is good
// until the next create is recorded in q for the same table.
func (r *Recorder[T]) Staged(q Queue, p handle.Of[T]) (*T, bool) {
	r.batch.check(q)
	if r.ordinal >= len(q.lane.columns) || !r.isName(p.ID) {
		return nil, false
	}
	c := (*Column[T])(q.lane.columns[r.ordinal])
	if c == nil {
		return nil, false
	}
	v := c.find(p.ID)
	return v, v != nil
}

// isName reports whether id is a provisional handle of this table and batch.
func (r *Recorder[T]) isName(id handle.ID) bool {
	return id>>32 == (handle.FreeBit|r.first|handle.ID(r.batch.number)<<32)>>32
}

// Erase records that the item h names is to be erased; a provisional handle of
// this batch cancels the create.
func (r *Recorder[T]) Erase(q Queue, h handle.Of[T]) {
	if c := r.column(q); c != nil {
		list := &c.erases[r.List(h.TypeID())]
		*list = append(*list, h.ID)
	}
}

func (r *Recorder[T]) eraseID(q Queue, id handle.ID) { r.Erase(q, handle.Of[T]{ID: id}) }

// EraseItems records an erase per handle.
func (r *Recorder[T]) EraseItems(q Queue, hs []handle.Of[T]) {
	if len(hs) == 0 {
		return
	}
	if c := r.firstUse(q, len(hs)); c != nil {
		for _, h := range hs {
			list := &c.erases[r.List(h.TypeID())]
			*list = append(*list, h.ID)
		}
	}
}

// Put records that the item h names is to be replaced by v; a provisional
// handle of this batch replaces the value of the create.
func (r *Recorder[T]) Put(q Queue, h handle.Of[T], v T) {
	if c := r.column(q); c != nil {
		list := &c.puts[r.List(h.TypeID())]
		*list = append(*list, Replacement[T]{h.ID, v})
	}
}

// grow makes room for one more create: in the current segment's array, or in a
// new segment. It reports false, and the queue has failed, when the names of
// the batch are used up.
func (r *Recorder[T]) grow(q Queue, c *Column[T]) bool {
	if room := cap(c.current); c.used > 0 && room < segmentItems {
		grown := make([]T, room, min(max(room*2, r.smallest()), segmentItems))
		copy(grown, c.current)
		c.current = grown
		return true
	}
	number := r.newSegment()
	if number >= maxSegments {
		q.lane.over, q.lane.left = true, 0
		return false
	}
	c.seal()
	if c.used == len(c.segments) {
		c.segments = append(c.segments, segment[T]{})
	}
	s := &c.segments[c.used]
	s.number = number
	c.used++
	c.base = handle.FreeBit | r.first | handle.ID(r.batch.number)<<32 | handle.ID(number)<<offsetBits
	c.current = s.values
	if cap(c.current) == 0 {
		c.current = make([]T, 0, r.smallest())
	}
	return true
}

// newSegment returns the next segment number of the batch. The serial beside the
// counter spares a flush the reset of every table's counter.
func (r *Recorder[T]) newSegment() uint32 {
	for {
		old := r.segments.Load()
		next := uint64(uint32(r.batch.serial))<<32 | 1
		if old>>32 == next>>32 {
			next = old + 1
		}
		if r.segments.CompareAndSwap(old, next) {
			return uint32(next) - 1
		}
	}
}

// segmentCount returns how many segment numbers the batch has given out.
func (r *Recorder[T]) segmentCount() int {
	if v := r.segments.Load(); v>>32 == uint64(uint32(r.batch.serial)) {
		return int(min(uint32(v), maxSegments))
	}
	return 0
}

// smallest is the number of creates in the first array of a segment: about a
// kilobyte.
func (r *Recorder[T]) smallest() int {
	var v T
	return min(max(1, 1024/max(1, int(unsafe.Sizeof(v)))), 64)
}
