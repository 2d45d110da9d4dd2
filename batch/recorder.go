package batch

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
)

// Recorder records the commands of one table. Its typed functions are [Emplace] and
// [PutItem]. Any goroutine may call it with its own queue.
type Recorder struct {
	router
	ordinal int
	few     int       // first capacity of a segment, about 1 KiB
	prefix  handle.ID // free bit and first typeId
	typ     *items.Type
	links   links
	spare   items.Slice

	Pending   *Commands // commands of the running flush
	published published

	attachments []*SetLog

	segments segmentNumbers
}

// Init registers the recorder of a table with the batch. first is the table's first typeId.
func (r *Recorder) Init(b *Batch, first uint16, shards int, t *items.Type) {
	ordinal, list := b.addTable(r, first, shards)
	r.router = router{batch: b, list: list, first: first, shards: uint16(shards)}
	r.ordinal, r.typ = ordinal, t
	// A queue that creates few items of a large type must not hold many kilobytes.
	r.few = min(max(1, 1024/max(1, int(t.Size))), 64)
	r.prefix = handle.FreeBit | handle.New(first, 0, 0)
	r.Pending = new(Commands)
	r.segments.begin()
}

// Links sets the places of handles in an item: offsets of fields, and handles that visitor
// visits unless it is nil.
func (r *Recorder) Links(fields []uintptr, visitor func(v unsafe.Pointer, visit func(*handle.ID))) {
	r.links = links{fields, visitor}
}

// Emplace records a create of v and returns its provisional handle, or null if the queue is
// full. T is the item type of r.
//
// The buffer proves T and the store, so arrays need no check. A call would cost as much as
// the rest (op=record.emplace).
func Emplace[T any](r *Recorder, q Queue, v T) handle.Of[T] {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if buf := q.buf; buf != nil && q.serial == buf.serial && uint(r.ordinal) < uint(len(buf.tables)) {
		if c := buf.tables[r.ordinal]; c != nil && c.recorder == r {
			// Another store may have a table with this ordinal. Its recorder differs, and
			// the slow path panics with the reason.
			current := items.As[T](&c.current)
			if n := len(*current); n < cap(*current) {
				// The capacity is the share, so a free place means that the limits hold
				// (B2).
				*current = (*current)[:n+1]
				(*current)[n] = v
				return handle.Of[T]{ID: c.base + handle.ID(n)}
			}
		}
	}
	return emplace(r, q, v)
}

// emplace is the slow path of Emplace.
func emplace[T any](r *Recorder, q Queue, v T) handle.Of[T] {
	c := r.buffer(q)
	if c == nil || !r.room(q, c) {
		return handle.Of[T]{}
	}
	n := c.current.Len()
	c.current = c.current.Resize(n + 1)
	(*items.As[T](&c.current))[n] = v
	return handle.Of[T]{ID: c.base + handle.ID(n)}
}

// EmplaceItems records a create per value and appends the provisional handles to dst, or as
// many null handles if the queue is full.
func (r *Recorder) EmplaceItems(q Queue, values items.Slice, dst []handle.ID) []handle.ID {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	n := values.Len()
	if n == 0 {
		return dst
	}
	c := r.buffer(q)
	// All values fit or the queue fails as a whole: no caller sees some handles and some
	// nulls.
	if c == nil || !q.buf.admit(n, r.typ.Size) {
		return append(dst, make([]handle.ID, n)...)
	}
	before := len(dst)
	// A run ends where a share or a segment does.
	for done := 0; done < n; {
		if c.current.Len() == c.current.Cap() && !r.room(q, c) {
			// The queue has failed, so the names that were appended are stale.
			return append(dst[:before], make([]handle.ID, n)...)
		}
		at := c.current.Len()
		run := min(n-done, c.current.Cap()-at)
		c.current = c.current.Resize(at + run)
		r.typ.Copy(c.current.Sub(at, at+run, r.typ.Size), values.Sub(done, done+run, r.typ.Size))
		for i := range run {
			dst = append(dst, c.base+handle.ID(at+i))
		}
		done += run
	}
	return dst
}

// Staged returns the address of the value recorded in q under p, valid until the pass ends,
// or nil.
func (r *Recorder) Staged(q Queue, p handle.ID) unsafe.Pointer {
	if !q.usable(r.batch) {
		return nil
	}
	c := q.buf.table(r.ordinal)
	if c == nil || !r.isProvisional(p) {
		return nil
	}
	v := c.find(p)
	// From now on room must not move the array.
	c.staged = c.staged || v != nil
	return v
}

// name returns the provisional handle of the first create of a segment.
func (r *Recorder) name(segment uint64) handle.ID { return r.prefix | handle.ID(segment)<<offsetBits }

// isProvisional reports whether id has the form of a provisional handle of the table. Only
// locate knows whether the batch has the create.
func (r *Recorder) isProvisional(id handle.ID) bool { return id>>typeShift == r.prefix>>typeShift }

// EraseItems records an erase per handle: all, or none if the queue is full.
func (r *Recorder) EraseItems(q Queue, ids []handle.ID) {
	if !q.usable(r.batch) || !q.buf.admit(len(ids), idBytes) {
		return
	}
	for _, id := range ids {
		r.Erase(q, id)
	}
}

// EraseAll records an erase of all items in the table at the flush.
func (r *Recorder) EraseAll(q Queue) {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if buf := q.buf; q.usable(r.batch) && buf.take(Load{1, idBytes}) {
		// EraseAll has no list: each shard takes the rows that live when the flush plans.
		buf.all, buf.holds = append(buf.all, r.ordinal), true
	}
}

// PutItem records that v replaces the item h names, which may be a create of this batch. T
// is the item type of r.
func PutItem[T any](r *Recorder, q Queue, h handle.Of[T], v T) {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	shard := r.shard(h.ID.TypeID())
	var p *Puts // with room
	if buf := q.buf; buf != nil && q.serial == buf.serial && uint(r.ordinal) < uint(len(buf.tables)) {
		if c := buf.tables[r.ordinal]; c != nil && c.recorder == r && shard < len(c.puts) {
			// The array of a shard without puts has no capacity, so its first put takes the
			// slow path, which notes the shard.
			p = &c.puts[shard]
		}
	}
	if p == nil || len(p.IDs) == cap(p.IDs) {
		if p = r.roomForPut(q, shard); p == nil {
			return
		}
	}
	put(p, len(p.IDs), h.ID, v)
}

// put writes at n, which is below the capacity of IDs. Values has room for as many (see
// [Puts.grow]).
func put[T any](p *Puts, n int, id handle.ID, v T) {
	p.IDs = p.IDs[:n+1]
	p.IDs[n] = id
	values := items.As[T](&p.Values)
	*values = (*values)[:n+1]
	(*values)[n] = v
}

// roomForPut returns the puts of a shard with room for one more, or nil if the queue has
// failed.
func (r *Recorder) roomForPut(q Queue, shard int) *Puts {
	c := r.buffer(q)
	if c == nil {
		return nil
	}
	if c.puts == nil {
		c.puts = make([]Puts, r.shards)
	}
	return c.putTo(q.buf, r.typ, shard)
}

// buffer returns the table buffer of a usable queue, or nil. The first use in a batch takes
// the buffer of the last use with its arrays. The touched list has tables in order of first
// use by the task, which depends on the task alone.
func (r *Recorder) buffer(q Queue) *tableBuffer {
	if !q.usable(r.batch) {
		return nil
	}
	buf := q.buf
	for len(buf.tables) <= r.ordinal {
		buf.tables = append(buf.tables, nil)
		buf.spare = append(buf.spare, nil)
		buf.usedTables = append(buf.usedTables, false)
	}
	if c := buf.tables[r.ordinal]; c != nil {
		return c
	}
	if buf.spare[r.ordinal] == nil {
		buf.spare[r.ordinal] = &tableBuffer{recorder: r}
	}
	c := buf.spare[r.ordinal]
	buf.tables[r.ordinal] = c
	buf.usedTables[r.ordinal] = true
	buf.touched, buf.holds = append(buf.touched, touched{r.ordinal, c}), true
	return c
}

// room grows the current array unless pointers into it exist, or begins a segment.
func (r *Recorder) room(q Queue, c *tableBuffer) bool {
	if !q.buf.take(Load{1, int64(r.typ.Size)}) {
		return false
	}
	n := c.current.Len()
	// The next capacity follows from the capacity, not from the memory that the array has
	// (B3).
	larger := min(max(c.capacity*2, r.few), segmentItems)
	switch {
	// A handle has no larger offsets, so the next create needs another segment number.
	case c.used == 0 || n == segmentItems:
		c.begin(r.segments.next(), r, r.few)
	// Only the share is used up. The array has room.
	case n < c.capacity:
	// Pointers from Staged must stay valid, so the array stays and another segment begins.
	case c.staged:
		c.begin(r.segments.next(), r, larger)
	default:
		c.capacity = larger
		// Memory of an earlier batch may be large enough already.
		if s := &c.segments[c.used-1]; s.values.Cap() < larger {
			s.values = r.typ.Grown(c.current, larger)
		}
	}
	n = c.current.Len()
	// take has paid for the next create, share pays for the places past it.
	c.current = c.segments[c.used-1].values.Resize(n).Clip(n + 1 + q.buf.share(c.capacity-n-1, r.typ.Size))
	return true
}

// begin starts the next segment, for n creates before it grows.
func (c *tableBuffer) begin(number uint64, r *Recorder, n int) {
	c.seal()
	if c.used == len(c.segments) {
		c.segments = append(c.segments, segment{})
	}
	s := &c.segments[c.used]
	s.number = number
	c.used++
	c.base = r.name(number)
	c.capacity = n
	// reset has zeroed values with pointers. Other values are overwritten before anybody
	// reads.
	if s.values.Cap() < n {
		s.values = r.typ.Make(n)
	}
	s.values = s.values.Resize(0)
	c.current = s.values.Clip(0)
}
