package batch

import (
	"slices"
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// tableBuffer holds the commands of one queue for one table, except erases. Its values lie
// in arrays of the table's item type, which only typed recording functions know; see
// [Emplace] and [PutItem].
type tableBuffer struct {
	current  items.Slice // creates of the newest segment; capacity is the share
	base     handle.ID   // provisional handle of current[0]
	recorder *Recorder   // the only writer
	puts     []Puts      // by shard: of this use, or empty; nil before the first put
	segments []segment   // first used segments hold creates; the length of the newest is stale while current grows
	used     int
	spare    []Puts // by shard: kept between uses
	put      Shards // shards with puts of this use
	recent   Shards // shards with puts in this period
	most     int    // highest used of this period
	uses     int    // number of uses in this period
	key      Key    // key of the queue, once gathered
	staged   bool   // pointers to creates exist: arrays do not move until reset
	first    int    // index of its first segment in the table's order, once gathered
}

type segment struct {
	values items.Slice
	number uint64 // number in provisional handles
	peak   highwater.Mark
}

// Puts are the puts of one queue for one shard, in sequence: Values[i] replaces the item
// that IDs[i] names.
type Puts struct {
	IDs    []handle.ID // capacity is the share
	Values items.Slice
	whole  []handle.ID // array of IDs, as long as the array of Values
	peak   highwater.Mark
}

// reset empties the buffer and keeps its memory, unless recent batches needed much less.
// Values are zeroed only if they contain pointers.
func (c *tableBuffer) reset() {
	c.seal()
	for i := range c.segments[:c.used] {
		s := &c.segments[i]
		s.values = emptied(c.recorder.typ, s.values, &s.peak)
	}
	c.most = max(c.most, c.used)
	c.current, c.used, c.staged = items.Slice{}, 0, false
	for shard := range c.put.All { // keep the arrays of this use for the next
		p := &c.puts[shard]
		p.reset(c.recorder.typ)
		c.spare[shard], *p = *p, Puts{}
	}
	c.recent |= c.put
	c.put = 0
	if c.uses++; c.uses == highwater.Period {
		c.releaseIdle()
	}
}

// releaseIdle releases the segments and the puts of shards that were not used in this
// period.
func (c *tableBuffer) releaseIdle() {
	if len(c.segments) > c.most {
		clear(c.segments[c.most:])
		c.segments = c.segments[:c.most]
	}
	for shard := range (AllShards(len(c.spare)) &^ c.recent).All {
		c.spare[shard] = Puts{}
	}
	c.recent, c.most, c.uses = 0, 0, 0
}

// putsTo returns the puts to a shard, and activates them at the first put of this use.
// Inactive puts have no capacity, so the recording path needs no extra check.
func (c *tableBuffer) putsTo(shard int) *Puts {
	if c.puts == nil {
		c.puts, c.spare = make([]Puts, c.recorder.shards), make([]Puts, c.recorder.shards)
	}
	p := &c.puts[shard]
	if !c.put.has(shard) {
		c.put.Add(shard)
		*p, c.spare[shard] = c.spare[shard], Puts{}
	}
	return p
}

// emptied empties an array of values and keeps its memory, unless recent uses needed much
// less.
func emptied(t *items.Type, values items.Slice, peak *highwater.Mark) items.Slice {
	if t.Pointers {
		t.Clear(values)
	}
	if values.Cap() > highwater.Few(t.Size) && values.Cap() > peak.Note(values.Len(), 0) {
		return items.Slice{}
	}
	return values.Resize(0)
}

// reset drops the puts and keeps their memory, unless recent batches needed much less.
func (p *Puts) reset(t *items.Type) {
	p.Values = emptied(t, p.Values, &p.peak)
	if p.Values.Cap() == 0 {
		p.whole = nil
	}
	p.IDs = p.whole[:0:0]
}

// grow makes room for one more put and for the next share, and reports false if that
// exceeds the limits of the queue.
func (p *Puts) grow(buf *buffer, t *items.Type) bool {
	size := idBytes + t.Size
	if !buf.take(Load{1, int64(size)}) {
		return false
	}
	n := len(p.IDs)
	if n == cap(p.whole) {
		p.whole = grow(p.IDs, 1)
		p.Values = t.Grown(p.Values, cap(p.whole)).Resize(n)
	}
	p.IDs = p.whole[: n : n+1+buf.share(cap(p.whole)-n-1, size)]
	return true
}

// clip removes all unused capacity.
func (c *tableBuffer) clip() {
	c.current = c.current.Clip(c.current.Len())
	for shard := range c.put.All {
		c.puts[shard].IDs = slices.Clip(c.puts[shard].IDs)
	}
}

func (c *tableBuffer) load() Load {
	c.seal()
	creates, puts := 0, 0
	for i := range c.segments[:c.used] {
		creates += c.segments[i].values.Len()
	}
	for shard := range c.put.All {
		puts += len(c.puts[shard].IDs)
	}
	return Load{creates + puts, int64(creates)*int64(c.recorder.typ.Size) + int64(puts)*int64(c.putBytes())}
}

// putBytes is the number of bytes that limits count for a put.
func (c *tableBuffer) putBytes() uintptr { return idBytes + c.recorder.typ.Size }

// seal writes the length of the newest segment back to the list.
func (c *tableBuffer) seal() {
	if c.used > 0 {
		s := &c.segments[c.used-1]
		s.values = s.values.Resize(c.current.Len())
	}
}

// find returns the address of the create that id names, or nil.
func (c *tableBuffer) find(id handle.ID) unsafe.Pointer {
	segment, offset := c.locate(id)
	if segment < 0 {
		return nil
	}
	return c.segments[segment].values.Pointer(offset, c.recorder.typ.Size)
}

// locate returns the segment index and offset of the create that id names, or -1.
func (c *tableBuffer) locate(id handle.ID) (segment, offset int) {
	c.seal()
	number, offset := split(id)
	for i := c.used - 1; i >= 0; i-- {
		if s := &c.segments[i]; s.number == number && offset < s.values.Len() {
			return i, offset
		}
	}
	return -1, 0
}

// room returns the capacity of a segment, in creates.
func (c *tableBuffer) room(segment int) int {
	return c.segments[segment].values.Cap()
}
