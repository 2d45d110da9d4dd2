package batch

import (
	"math/bits"
	"slices"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// SetLog says where the values go that are recorded for what is attached to a
// table, such as a column: each belongs to an item. A Set gives the item that a handle
// names such a value; the last by (key, sequence) wins. Of what is optional an Unset takes
// it away; the two are one sequence.
type SetLog struct {
	table    *Recorder
	number   int         // among all of the batch
	index    int         // among those of the table
	typ      *items.Type // of the values
	links    links       // of the values
	spare    items.Slice // one value, between two that change places
	optional bool        // items may lack a value
}

// Init makes the attachment, of values of a type, which items may lack if it is optional,
// the next of a table. fields and visitor say where handles lie in a value, as for
// [Recorder.Init]. No queue records meanwhile, but for those of the inbox.
func (a *SetLog) Init(table *Recorder, t *items.Type, optional bool, fields []uintptr, visitor func(v unsafe.Pointer, visit func(id *handle.ID))) {
	b := table.batch
	a.links, a.optional = links{fields, visitor}, optional
	a.table, a.typ, a.number, a.index = table, t, len(b.attachments), len(table.attachments)
	b.attachments = append(b.attachments, a)
	table.attachments = append(table.attachments, a)
}

// Index returns which of its table's attachments it is.
func (a *SetLog) Index() int { return a.index }

// Sets are what one queue recorded for one attachment.
//
//	to creates of the queue    staged   one array beside each of its segments
//	to anything else           puts     by handle
//
// Staged values need no look-up in the flush, which copies them as it copies the
// creates. They are as many as the last create of the segment that was set needs: those
// that were not are zero.
//
// An Unset lies among the Sets, and its value is any.
type Sets struct {
	of          *SetLog
	puts        []Puts       // by shard
	unsets      []bitmap     // likewise, which of them are Unsets; nil: none can be
	shards      Shards       // that have puts
	recent      Shards       // that had some since idle arrays were given up
	uses        int          // since then
	creates     *tableBuffer // of the queue for the table; nil: nothing is staged
	staged      []staged
	used        int     // of staged
	createIndex int     // creates that have been set
	again       []place // of Sets of creates that had been set before, one each
	key         Key     // of the queue, once gathered

	againPeak highwater.Mark
}

// place is the number of a segment of the queue, and of a create in it.
type place struct{ segment, offset uint32 }

// staged are the values beside a segment of creates.
type staged struct {
	values items.Slice // with room for its share
	whole  items.Slice // the array of values; its length is any
	set    bitmap      // of the places that were set, or unset
	unset  bitmap      // of those whose last command is an Unset
	peak   highwater.Mark
}

// Set makes room in q for a Set of the item that id names, and returns where its value is to
// be written at once, or nil when the queue has failed. A provisional handle of the
// batch names its create.
func (a *SetLog) Set(q Queue, id handle.ID) unsafe.Pointer {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	if buf := q.buf; buf != nil && q.serial == buf.serial && buf.batch == a.table.batch && a.number < len(buf.sets) {
		if s := buf.sets[a.number]; s != nil {
			if p := s.next(id); p != nil {
				return p
			}
		}
	}
	return a.record(q, id, false)
}

// Unset records in q that the item that id names is to lack a value. A provisional handle
// of the batch names its create.
func (a *SetLog) Unset(q Queue, id handle.ID) {
	if check.Cheap {
		q.enter()
		defer q.leave()
	}
	a.record(q, id, true)
}

// record makes room for a Set, or an Unset.
func (a *SetLog) record(q Queue, id handle.ID, unset bool) unsafe.Pointer {
	s := a.sets(q)
	if s == nil {
		return nil
	}
	if c := q.buf.column(a.table.ordinal); c != nil && a.table.isProvisional(id) {
		if segment, offset := c.locate(id); segment >= 0 {
			p := s.stage(q.buf, c, segment, offset)
			if p != nil && a.optional {
				s.staged[segment].unset.put(offset, unset)
			}
			return p
		}
	}
	shard := a.table.shard(id.TypeID())
	p := s.put(q.buf, shard, id)
	if p != nil && unset {
		s.unsets[shard].put(len(s.puts[shard].IDs)-1, true)
	}
	return p
}

// next is what most Sets are: of the create behind the last one set.
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
	st.set[n/64] |= 1 << (n % 64) // of unset the bit is 0
	s.createIndex++
	st.values = st.values.Resize(n + 1)
	return st.values.Pointer(n, s.of.typ.Size)
}

// sets returns what the queue holds for the attachment, which it makes at the first use in
// a batch, or nil if the queue has failed.
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
		buf.spareSets[a.number] = a.newSets()
	}
	s := buf.spareSets[a.number]
	buf.sets[a.number] = s
	buf.usedSets[a.number] = true
	buf.attached, buf.holds = append(buf.attached, s), true
	return s
}

func (a *SetLog) newSets() *Sets {
	s := &Sets{of: a, puts: make([]Puts, a.table.shards)}
	if a.optional {
		s.unsets = make([]bitmap, a.table.shards)
	}
	return s
}

func (s *Sets) putBytes() uintptr { return idBytes + s.of.typ.Size }

// put makes room for a Set by handle.
func (s *Sets) put(buf *buffer, shard int, id handle.ID) unsafe.Pointer {
	p, t := &s.puts[shard], s.of.typ
	n := len(p.IDs)
	if n == cap(p.IDs) && !p.grow(buf, t) {
		return nil
	}
	s.shards.Add(shard)
	p.IDs = append(p.IDs, id)
	p.Values = p.Values.Resize(n + 1)
	return p.Values.Pointer(n, t.Size)
}

// stage makes room for a Set at a place of a segment of c, the creates of the queue.
func (s *Sets) stage(buf *buffer, c *tableBuffer, segment, offset int) unsafe.Pointer {
	t := s.of.typ
	s.creates = c
	s.begin(segment)
	st := &s.staged[segment]
	n := st.values.Len()
	switch {
	case offset < n:
		if !buf.take(Load{1, 0}) {
			return nil
		}
		if st.set.has(offset) {
			s.again = append(s.again, place{uint32(segment), uint32(offset)})
			return st.values.Pointer(offset, t.Size)
		}
	case offset < st.values.Cap():
		buf.room.Commands -= offset - n // of the share, for places that are passed over
	case !s.grow(buf, st, offset, c.room(segment)):
		return nil
	}
	if offset >= n {
		t.Clear(st.values.Sub(n, offset, t.Size)) // of uses before
		st.values = st.values.Resize(offset + 1)
	}
	st.set[offset/64] |= 1 << (offset % 64)
	s.createIndex++
	return st.values.Pointer(offset, t.Size)
}

// begin begins to stage beside the segments up to the given one.
func (s *Sets) begin(segment int) {
	for ; s.used <= segment; s.used++ {
		if s.used == len(s.staged) {
			s.staged = append(s.staged, staged{})
		}
	}
}

// grow makes room for the value at offset, beyond the room of st, and for the next share,
// in an array for room values. It reports false, and the queue has failed, when that
// exceeds its limits.
func (s *Sets) grow(buf *buffer, st *staged, offset, room int) bool {
	t := s.of.typ
	have, unused := st.values.Len(), st.values.Cap()-st.values.Len()
	buf.room.subtract(Load{unused, int64(unused) * int64(t.Size)})
	st.values = st.values.Clip(have)
	if !buf.take(Load{1, int64(offset+1-have) * int64(t.Size)}) {
		return false
	}
	if offset >= st.whole.Cap() {
		st.whole = t.Grown(st.values, room)
		set := make(bitmap, (room+63)/64)
		copy(set, st.set)
		st.set = set
	}
	st.values = st.whole.Resize(have).Clip(offset + 1 + buf.share(st.whole.Cap()-offset-1, t.Size))
	return true
}

// clip leaves arrays no room beyond what they hold.
func (s *Sets) clip() {
	for i := range s.staged[:s.used] {
		st := &s.staged[i]
		st.values = st.values.Clip(st.values.Len())
	}
	for shard := range s.shards.All {
		s.puts[shard].IDs = slices.Clip(s.puts[shard].IDs)
	}
}

// reset drops what was recorded and keeps the memory, unless recent batches needed much
// less.
func (s *Sets) reset() {
	t := s.of.typ
	for i := range s.staged[:s.used] {
		st := &s.staged[i]
		st.whole = emptied(t, st.whole.Resize(st.values.Len()), &st.peak)
		st.values = st.whole.Clip(0)
		clear(st.set)
		clear(st.unset)
		if st.whole.Cap() == 0 {
			st.set, st.unset = nil, nil
		}
	}
	s.resetPuts()
	if few := max(4, 2*s.used); len(s.staged) > few {
		clear(s.staged[few:])
		s.staged = s.staged[:few]
	}
	s.creates, s.used, s.createIndex = nil, 0, 0
	s.again = highwater.Trim(&s.againPeak, s.again)
}

// resetPuts is what that of a column is.
func (s *Sets) resetPuts() {
	for shard := range s.shards.All {
		s.puts[shard].reset(s.of.typ)
		if s.of.optional {
			clear(s.unsets[shard])
		}
	}
	s.recent |= s.shards
	s.shards = 0
	if s.uses++; s.uses < highwater.Period {
		return
	}
	for shard := range (AllShards(len(s.puts)) &^ s.recent).All {
		s.puts[shard] = Puts{}
		if s.of.optional {
			s.unsets[shard] = nil
		}
	}
	s.recent, s.uses = 0, 0
}

func (s *Sets) load() Load {
	values, puts := 0, 0
	for i := range s.staged[:s.used] {
		values += s.staged[i].values.Len()
	}
	for shard := range s.shards.All {
		puts += len(s.puts[shard].IDs)
	}
	return Load{s.createIndex + len(s.again) + puts, int64(values)*int64(s.of.typ.Size) + int64(puts)*int64(s.putBytes())}
}

// Puts returns the Sets to a shard that are by handle, Unsets included.
func (s *Sets) Puts(shard int) *Puts { return &s.puts[shard] }

// IsUnset reports whether one of those is an Unset.
func (s *Sets) IsUnset(shard, sequence int) bool { return s.unsets[shard].has(sequence) }

// Key returns the key of the queue, once gathered.
func (s *Sets) Key() Key { return s.key }

// bitmap is a set of small numbers. What it has no room for is not in it.
type bitmap []uint64

func (b bitmap) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 != 0 }

// put makes i one of the set, or none.
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

// each calls f for every number of the set.
func (b bitmap) each(f func(i int)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}
