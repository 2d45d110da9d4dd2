package batch

import (
	"slices"
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// tableBuffer holds one queue's creates and puts for one table.
type tableBuffer struct {
	current  items.Slice // creates of the newest segment; capacity is the share
	base     handle.ID   // of current[0]
	recorder *Recorder   // the only writer
	puts     []Puts      // by shard; nil before the first put
	segments []segment   // the newest's length is stale while current grows
	capacity int         // creates of the newest segment before it grows or the next begins
	used     int
	spare    []Puts // unused puts, by shard
	put      Shards
	recent   Shards // used in this period
	maxUsed  int    // highest used of the period
	uses     int
	key      Key
	staged   bool // pointers to creates exist: arrays must not move
	first    int  // first segment in the table's order, once gathered
}

// Arrays of earlier batches may be longer than capacity. It alone decides where segments
// begin, because a late Set counts the bytes of its segment up to its create.
type segment struct {
	values items.Slice
	number uint64
	peak   highwater.Mark
}

// Puts are one queue's puts for one shard, in sequence: Values[i] replaces IDs[i].
type Puts struct {
	IDs    []handle.ID // capacity is the share
	Values items.Slice
	whole  []handle.ID // array of IDs, as long as Values
	peak   highwater.Mark
}

// reset drops all commands. It keeps arrays for the next use of the queue, as far as recent
// uses needed them, and zeroes values with pointers.
func (c *tableBuffer) reset() {
	c.seal()
	for i := range c.segments[:c.used] {
		s := &c.segments[i]
		s.values = emptied(c.recorder.typ, s.values, &s.peak)
	}
	c.maxUsed = max(c.maxUsed, c.used)
	c.current, c.used, c.staged = items.Slice{}, 0, false
	for shard := range c.put.All {
		p := &c.puts[shard]
		p.reset(c.recorder.typ)
		// A shard without puts must have no capacity: see putsTo.
		c.spare[shard], *p = *p, Puts{}
	}
	c.recent |= c.put
	c.put = 0
	if c.uses++; c.uses == highwater.Period {
		c.releaseIdle()
	}
}

// releaseIdle releases segments and arrays of puts that no use of the last period needed.
func (c *tableBuffer) releaseIdle() {
	if len(c.segments) > c.maxUsed {
		clear(c.segments[c.maxUsed:])
		c.segments = c.segments[:c.maxUsed]
	}
	for shard := range (AllShards(len(c.spare)) &^ c.recent).All {
		c.spare[shard] = Puts{}
	}
	c.recent, c.maxUsed, c.uses = 0, 0, 0
}

// putsTo returns the puts of a shard, and notes the shard at its first put of a use. Puts
// without commands have no capacity, so recording needs no extra check.
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

// emptied empties an array and releases it if recent uses needed much less.
func emptied(t *items.Type, values items.Slice, peak *highwater.Mark) items.Slice {
	// The collector must not see pointers of dropped values.
	if t.Pointers {
		t.Clear(values)
	}
	if values.Cap() > highwater.Few(t.Size) && values.Cap() > peak.Note(values.Len(), 0) {
		return items.Slice{}
	}
	return values.Resize(0)
}

func (p *Puts) reset(t *items.Type) {
	p.Values = emptied(t, p.Values, &p.peak)
	// Both arrays have one length, so both are released.
	if p.Values.Cap() == 0 {
		p.whole = nil
	}
	// Without capacity: the first put of the next use takes a share.
	p.IDs = p.whole[:0:0]
}

// grow makes room for one more put and for the next share.
func (p *Puts) grow(buf *buffer, t *items.Type) bool {
	size := idBytes + t.Size
	if !buf.take(Load{1, int64(size)}) {
		return false
	}
	n := len(p.IDs)
	// IDs carries the share. Values is always as long as the whole array, so that a put
	// checks one capacity.
	if n == cap(p.whole) {
		p.whole = grow(p.IDs, 1)
		p.Values = t.Grown(p.Values, cap(p.whole)).Resize(n)
	}
	p.IDs = p.whole[: n : n+1+buf.share(cap(p.whole)-n-1, size)]
	return true
}

// clip removes unused capacity.
func (c *tableBuffer) clip() {
	c.current = c.current.Clip(c.current.Len())
	for shard := range c.put.All {
		c.puts[shard].IDs = slices.Clip(c.puts[shard].IDs)
	}
}

// load takes O(segments + shards with puts) time.
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

func (c *tableBuffer) putBytes() uintptr { return idBytes + c.recorder.typ.Size }

// seal updates the length of the newest segment.
func (c *tableBuffer) seal() {
	if c.used > 0 {
		s := &c.segments[c.used-1]
		s.values = s.values.Resize(c.current.Len())
	}
}

// find returns the address of the value with a provisional handle, or nil if the queue did
// not give the handle.
func (c *tableBuffer) find(id handle.ID) unsafe.Pointer {
	segment, offset := c.locate(id)
	if segment < 0 {
		return nil
	}
	return c.segments[segment].values.Pointer(offset, c.recorder.typ.Size)
}

// locate returns the segment and offset of a provisional handle of the table, or -1. It
// takes O(segments) time.
func (c *tableBuffer) locate(id handle.ID) (segment, offset int) {
	c.seal()
	number, offset := split(id)
	for i := c.used - 1; i >= 0; i-- {
		// A name past the length was never given by this queue.
		if s := &c.segments[i]; s.number == number && offset < s.values.Len() {
			return i, offset
		}
	}
	return -1, 0
}

// room returns the number of creates for which a segment has memory.
func (c *tableBuffer) room(segment int) int {
	return c.segments[segment].values.Cap()
}
