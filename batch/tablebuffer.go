package batch

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/highwater"
	"handloom/internal/items"
)

// tableBuffer holds one queue's creates and puts for one table.
type tableBuffer struct {
	current  items.Slice // creates of the newest segment; capacity is the share
	base     handle.ID   // of current[0]
	recorder *Recorder   // the only writer
	segments []segment   // the newest's length is stale while current grows
	capacity int         // creates of the newest segment before it grows or the next begins
	used     int
	maxUsed  int // highest used of the period
	uses     int
	key      Key
	staged   bool // pointers to creates exist: arrays must not move
	first    int  // first segment in the table's order, once gathered
	putLog
}

// Arrays of earlier batches may be longer than capacity. It alone decides where segments
// begin, because a late Set counts the bytes of its segment up to its create.
type segment struct {
	values items.Slice
	number uint64
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
	c.putLog.reset(c.recorder.typ)
	if c.uses++; c.uses < highwater.Period {
		return
	}
	if len(c.segments) > c.maxUsed {
		clear(c.segments[c.maxUsed:])
		c.segments = c.segments[:c.maxUsed]
	}
	c.maxUsed, c.uses = 0, 0
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

// clip removes unused capacity.
func (c *tableBuffer) clip() {
	c.current = c.current.Clip(c.current.Len())
	c.putLog.clip()
}

// load takes O(segments + shards with puts) time.
func (c *tableBuffer) load() Load {
	c.seal()
	creates, size := 0, c.recorder.typ.Size
	for i := range c.segments[:c.used] {
		creates += c.segments[i].values.Len()
	}
	puts := c.commands()
	return Load{creates + puts, int64(creates)*int64(size) + int64(puts)*int64(idBytes+size)}
}

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
func (c *tableBuffer) room(segment int) int { return c.segments[segment].values.Cap() }
