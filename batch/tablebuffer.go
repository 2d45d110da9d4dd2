package batch

import (
	"slices"
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// tableBuffer is what one queue recorded for one table, but for erases. Its values lie
// in arrays of the table's item type, which only the typed functions of recording
// know; see [Emplace] and [PutItem].
type tableBuffer struct {
	current  items.Slice // creates of the newest segment, with room for its share
	base     handle.ID   // the provisional handle of the first of current
	of       *Recorder   // which alone records into it
	puts     []Puts      // by shard: of this use, or empty; nil: there never were any
	segments []segment   // the first used ones hold creates; the length of the newest is stale while current grows
	used     int
	spare    []Puts // by shard: kept from use to use
	put      Shards // that have puts of this use
	recent   Shards // that had some since idle arrays were given up
	most     int    // segments of a use since then
	uses     int    // since then
	key      Key    // of the queue, once gathered
	staged   bool   // pointers to creates were given out: arrays do not move until reset
	first    int    // segments of the table before them, once gathered
}

type segment struct {
	values items.Slice
	number uint64 // in provisional handles
	peak   highwater.Mark
}

// Puts are the puts that one queue recorded for one shard, in sequence: each value
// replaces the item that the handle in its place names.
type Puts struct {
	IDs    []handle.ID // with room for its share
	Values items.Slice
	whole  []handle.ID // the array of IDs, as long as that of Values
	peak   highwater.Mark
}

// reset empties the column and keeps its memory, unless recent batches needed
// much less. Payload is zeroed where the collector would otherwise keep alive
// what it points to.
func (c *tableBuffer) reset() {
	c.seal()
	for i := range c.segments[:c.used] {
		s := &c.segments[i]
		s.values = emptied(c.of.typ, s.values, &s.peak)
	}
	c.most = max(c.most, c.used)
	c.current, c.used, c.staged = items.Slice{}, 0, false
	for shard := range c.put.All { // the arrays of this use are put aside
		p := &c.puts[shard]
		p.reset(c.of.typ)
		c.spare[shard], *p = *p, Puts{}
	}
	c.recent |= c.put
	c.put = 0
	if c.uses++; c.uses == highwater.Period {
		c.giveUpIdle()
	}
}

// giveUpIdle gives up, now and then, segments that no batch needed since the last time,
// and the arrays of shards that had no puts in this queue.
func (c *tableBuffer) giveUpIdle() {
	if len(c.segments) > c.most {
		clear(c.segments[c.most:])
		c.segments = c.segments[:c.most]
	}
	for shard := range (AllShards(len(c.spare)) &^ c.recent).All {
		c.spare[shard] = Puts{}
	}
	c.recent, c.most, c.uses = 0, 0, 0
}

// putsTo returns where the puts of this use to a shard go, which it takes up with the
// first of them: no room is left before, so that recording need not ask.
func (c *tableBuffer) putsTo(shard int) *Puts {
	if c.puts == nil {
		c.puts, c.spare = make([]Puts, c.of.shards), make([]Puts, c.of.shards)
	}
	p := &c.puts[shard]
	if !c.put.has(shard) {
		c.put.Add(shard)
		*p, c.spare[shard] = c.spare[shard], Puts{}
	}
	return p
}

// emptied empties an array of values and keeps its memory, unless recent uses
// needed much less.
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

// grow makes room for one more put of a queue and for the next share, unless that exceeds
// its limits.
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

// clip leaves arrays no room beyond what they hold.
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
	return Load{creates + puts, int64(creates)*int64(c.of.typ.Size) + int64(puts)*int64(c.putBytes())}
}

// putBytes is what a put counts for.
func (c *tableBuffer) putBytes() uintptr { return idBytes + c.of.typ.Size }

// seal writes the length of the newest segment back to the list.
func (c *tableBuffer) seal() {
	if c.used > 0 {
		s := &c.segments[c.used-1]
		s.values = s.values.Resize(c.current.Len())
	}
}

// find returns where the create that id names lies in this column, or nil.
func (c *tableBuffer) find(id handle.ID) unsafe.Pointer {
	segment, offset := c.locate(id)
	if segment < 0 {
		return nil
	}
	return c.segments[segment].values.Pointer(offset, c.of.typ.Size)
}

// locate returns the segment of this column that the create which id names lies in, and
// where, or -1.
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

// room returns for how many creates a segment has room.
func (c *tableBuffer) room(segment int) int {
	return c.segments[segment].values.Cap()
}
