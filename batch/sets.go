package batch

import (
	"math/bits"
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/items"
)

// SetLog records the values for an attachment of a table, such as a column. A Set gives an
// item a value; the last by (key, sequence) wins. An Unset removes an optional value.
//
//	number   place in buffers, over all tables
//	index    place among the attachments of the table
//	spare    one value, for swaps
//
// The attachments of a table are columns and sparse data; sparse data is optional.
type SetLog struct {
	table    *Recorder
	number   int
	index    int
	typ      *items.Type
	links    links
	spare    items.Slice
	optional bool
}

// Init registers the next attachment of a table. Only queues of the inbox may record
// meanwhile.
func (a *SetLog) Init(table *Recorder, t *items.Type, optional bool, fields []uintptr, visitor func(v unsafe.Pointer, visit func(id *handle.ID))) {
	b := table.batch
	a.links, a.optional = links{fields, visitor}, optional
	a.table, a.typ, a.number, a.index = table, t, len(b.attachments), len(table.attachments)
	b.attachments = append(b.attachments, a)
	table.attachments = append(table.attachments, a)
}

// Index returns the number of the attachment in its table.
func (a *SetLog) Index() int { return a.index }

// Sets are one queue's Sets and Unsets for one attachment.
//
//	of creates of the queue    staged   one array per segment of creates
//	of other items             puts     by handle
//
// A flush copies staged values like creates, without look-up. Creates before the last one
// that was set are zero unless set. An Unset is a Set with any value and a mark.
type Sets struct {
	log *SetLog
	putLog
	creates  *tableBuffer // the queue's buffer; nil: nothing is staged
	staged   []staged
	used     int     // number of staged in use
	setCount int     // creates that were set or unset
	again    []place // one per repeated Set of a create
	key      Key

	againPeak highwater.Mark
}

// place is a create of the queue.
type place struct{ segment, offset uint32 }

// staged are the values of a segment's creates.
type staged struct {
	values items.Slice // capacity is the share
	whole  items.Slice // of any length
	set    bitmap      // offsets that were set or unset
	unset  bitmap      // offsets whose last command is an Unset
	peak   highwater.Mark
}

// Set records a Set of the item id names and returns the address for the value, to be
// written at once, or nil if the queue has failed.
func (a *SetLog) Set(q Queue, id handle.ID) unsafe.Pointer {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	// Both fast paths write into a share, so the limits hold (B2).
	if s := a.used(q); s != nil {
		var p unsafe.Pointer
		if id.IsProvisional() {
			p = s.next(id)
		} else {
			p = s.append(&s.puts[a.table.shard(id.TypeID())], id)
		}
		if p != nil {
			return p
		}
	}
	return a.record(q, id, false)
}

// Unset records that the item id names has no value.
func (a *SetLog) Unset(q Queue, id handle.ID) {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	// An Unset of a create needs the segment, so it takes the slow path.
	if s := a.used(q); s != nil && !id.IsProvisional() {
		p := &s.puts[a.table.shard(id.TypeID())]
		// The bitmap must have the word already.
		if n := len(p.IDs); n/64 < len(p.unset) && s.append(p, id) != nil {
			p.unset[n/64] |= 1 << (n % 64)
			return
		}
	}
	a.record(q, id, true)
}

// used returns the queue's Sets if it has any, for the fast paths.
func (a *SetLog) used(q Queue) *Sets {
	if buf := q.buf; buf != nil && q.serial == buf.serial && buf.batch == a.table.batch && a.number < len(buf.sets) {
		return buf.sets[a.number]
	}
	return nil
}

// record is the slow path of Set and Unset. It returns nil if the queue has failed.
func (a *SetLog) record(q Queue, id handle.ID, unset bool) unsafe.Pointer {
	s := a.sets(q)
	if s == nil {
		return nil
	}
	if c := q.buf.table(a.table.ordinal); c != nil && a.table.isProvisional(id) {
		// The queue made the create: the value is staged next to it. Handles of other
		// queues and stale handles are recorded by handle.
		if segment, offset := c.locate(id); segment >= 0 {
			p := s.stage(q.buf, c, segment, offset)
			if p != nil && a.optional {
				// A later Set of the create revokes the Unset.
				s.staged[segment].unset.put(offset, unset)
			}
			return p
		}
	}
	p := s.putTo(q.buf, a.typ, a.table.shard(id.TypeID()))
	if p == nil {
		return nil
	}
	if unset {
		p.unset.put(len(p.IDs), true)
	}
	return s.append(p, id)
}

// append is the fast path of Set and Unset by handle. It returns nil if the share is used up.
// The first command for a shard has no share, so [putLog.putTo] has noted the shard.
func (s *Sets) append(p *Puts, id handle.ID) unsafe.Pointer {
	n := len(p.IDs)
	if n == cap(p.IDs) {
		return nil
	}
	p.IDs = p.IDs[:n+1]
	p.IDs[n] = id
	p.Values = p.Values.Resize(n + 1)
	return p.Values.Pointer(n, s.log.typ.Size)
}

// next is the fast path of Set, for the create after the last one that was set. The handle must
// be of the newest segment, the share must have room, and the queue must have made the create.
// All other handles take the slow path.
func (s *Sets) next(id handle.ID) unsafe.Pointer {
	c := s.creates
	if c == nil || s.used != c.used {
		return nil
	}
	st, at := &s.staged[s.used-1], uint64(id-c.base)
	n := st.values.Len()
	if at != uint64(n) || n >= st.values.Cap() || n >= c.current.Len() {
		return nil
	}
	// grow has made the bitmap as long as the array.
	st.set[n/64] |= 1 << (n % 64)
	s.setCount++
	st.values = st.values.Resize(n + 1)
	return st.values.Pointer(n, s.log.typ.Size)
}

// sets returns the queue's Sets, or nil if the queue has failed.
func (a *SetLog) sets(q Queue) *Sets {
	if !q.usable(a.table.batch) {
		return nil
	}
	buf := q.buf
	for len(buf.sets) <= a.number {
		buf.sets = append(buf.sets, nil)
		buf.spareSets = append(buf.spareSets, nil)
		buf.usedSets = append(buf.usedSets, false)
	}
	if s := buf.sets[a.number]; s != nil {
		return s
	}
	if buf.spareSets[a.number] == nil {
		buf.spareSets[a.number] = &Sets{log: a, putLog: putLog{puts: make([]Puts, a.table.shards)}}
	}
	s := buf.spareSets[a.number]
	buf.sets[a.number] = s
	buf.usedSets[a.number] = true
	buf.attached, buf.holds = append(buf.attached, s), true
	return s
}

// stage records a command for a create of the queue and returns the address for the value.
// It pays for the bytes of skipped offsets as well.
func (s *Sets) stage(buf *buffer, c *tableBuffer, segment, offset int) unsafe.Pointer {
	t := s.log.typ
	s.creates = c
	s.begin(segment)
	st := &s.staged[segment]
	n := st.values.Len()
	switch {
	case offset < n:
		// The bytes of the place are paid for already.
		if !buf.take(Load{1, 0}) {
			return nil
		}
		if st.set.has(offset) {
			// The value is overwritten, but each command counts once (B1).
			s.again = append(s.again, place{uint32(segment), uint32(offset)})
			return st.values.Pointer(offset, t.Size)
		}
	// The share had a command for each offset. A skipped offset has no command, but its bytes
	// count: a flush copies it as zeros.
	case offset < st.values.Cap():
		buf.room.Commands -= offset - n // the share of skipped offsets
	case !s.grow(buf, st, offset, c.room(segment)):
		return nil
	}
	if offset >= n {
		t.Clear(st.values.Sub(n, offset, t.Size)) // of earlier uses
		st.values = st.values.Resize(offset + 1)
	}
	st.set[offset/64] |= 1 << (offset % 64)
	s.setCount++
	return st.values.Pointer(offset, t.Size)
}

// begin begins segments up to the given one. Segments without values stay empty.
func (s *Sets) begin(segment int) {
	for ; s.used <= segment; s.used++ {
		if s.used == len(s.staged) {
			s.staged = append(s.staged, staged{})
		}
	}
}

// grow makes room for the value at offset and for the next share.
func (s *Sets) grow(buf *buffer, st *staged, offset, room int) bool {
	t := s.log.typ
	// The unused share goes back first, because the skipped offsets are paid by bytes alone.
	have, unused := st.values.Len(), st.values.Cap()-st.values.Len()
	buf.room.subtract(Load{unused, int64(unused) * int64(t.Size)})
	st.values = st.values.Clip(have)
	if !buf.take(Load{1, int64(offset+1-have) * int64(t.Size)}) {
		return false
	}
	// room is the memory of the segment of creates, so both arrays grow in the same steps.
	if offset >= st.whole.Cap() {
		st.whole = t.Grown(st.values, room)
		set := make(bitmap, (room+63)/64)
		copy(set, st.set)
		st.set = set
	}
	st.values = st.whole.Resize(have).Clip(offset + 1 + buf.share(st.whole.Cap()-offset-1, t.Size))
	return true
}

// clip removes unused capacity.
func (s *Sets) clip() {
	for i := range s.staged[:s.used] {
		st := &s.staged[i]
		st.values = st.values.Clip(st.values.Len())
	}
	s.putLog.clip()
}

// reset drops all commands and keeps arrays as far as recent uses needed them.
func (s *Sets) reset() {
	t := s.log.typ
	for i := range s.staged[:s.used] {
		st := &s.staged[i]
		st.whole = emptied(t, st.whole.Resize(st.values.Len()), &st.peak)
		st.values = st.whole.Clip(0)
		clear(st.set)
		clear(st.unset)
		// The bitmaps are as long as the array.
		if st.whole.Cap() == 0 {
			st.set, st.unset = nil, nil
		}
	}
	s.putLog.reset(t)
	if few := max(4, 2*s.used); len(s.staged) > few {
		clear(s.staged[few:])
		s.staged = s.staged[:few]
	}
	s.creates, s.used, s.setCount = nil, 0, 0
	s.again = highwater.Trim(&s.againPeak, s.again)
}

// load takes O(segments + shards with puts) time.
func (s *Sets) load() Load {
	values, size := 0, s.log.typ.Size
	for i := range s.staged[:s.used] {
		values += s.staged[i].values.Len()
	}
	puts := s.commands()
	return Load{s.setCount + len(s.again) + puts, int64(values)*int64(size) + int64(puts)*int64(idBytes+size)}
}

// Puts returns the Sets and Unsets by handle.
func (s *Sets) Puts(shard int) *Puts { return &s.puts[shard] }

// Key returns the key of the queue.
func (s *Sets) Key() Key { return s.key }

// bitmap is a set of small numbers.
type bitmap []uint64

func (b bitmap) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 != 0 }

// put adds or removes i. It grows the bitmap only to add.
func (b *bitmap) put(i int, in bool) {
	if !in {
		if b.has(i) {
			(*b)[i/64] &^= 1 << (i % 64)
		}
		return
	}
	for i/64 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bitmap) each(f func(i int)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}
