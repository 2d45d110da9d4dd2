package batch

import "handloom/shard/handle"

const (
	offsetBits   = 14
	segmentItems = 1 << offsetBits // creates that share a segment number
	maxSegments  = 1 << (32 - offsetBits)
)

// Recorded is a column of any item type.
type Recorded interface{ reset() }

// Column is what one queue recorded for one table.
type Column[T any] struct {
	current  []T          // creates of the newest segment
	base     handle.ID    // the provisional handle of current[0]
	segments []segment[T] // the first used ones hold creates; the newest is stale while current grows
	used     int
	erases   [][]handle.ID      // by Recorder.List of the typeId
	puts     [][]Replacement[T] // likewise
	pointers bool               // values hold pointers that the collector follows
	pass     int                // the key of the queue, once gathered
	task     int
}

type segment[T any] struct {
	values []T
	number uint32
}

// Replacement is a put: Value replaces the item that Handle names.
type Replacement[T any] struct {
	Handle handle.ID
	Value  T
}

// reset empties the column and keeps its memory. Payload is zeroed where the
// collector would otherwise keep alive what it points to.
func (c *Column[T]) reset() {
	c.seal()
	for i := range c.segments[:c.used] {
		s := &c.segments[i]
		if c.pointers {
			clear(s.values)
		}
		s.values = s.values[:0]
	}
	c.current, c.used = nil, 0
	for i := range c.erases {
		c.erases[i] = c.erases[i][:0]
	}
	for i := range c.puts {
		if c.pointers {
			clear(c.puts[i])
		}
		c.puts[i] = c.puts[i][:0]
	}
}

// seal writes the newest segment back to the list.
func (c *Column[T]) seal() {
	if c.used > 0 {
		c.segments[c.used-1].values = c.current
	}
}

// find returns where the create that id names lies in this column, or nil.
func (c *Column[T]) find(id handle.ID) *T {
	c.seal()
	number, offset := split(id)
	for i := c.used - 1; i >= 0; i-- {
		if s := &c.segments[i]; s.number == number && offset < len(s.values) {
			return &s.values[offset]
		}
	}
	return nil
}

// Erases returns the handles to erase in one list of the column, in sequence.
func (c *Column[T]) Erases(list int) []handle.ID { return c.erases[list] }

// Puts returns the puts in one list of the column, in sequence.
func (c *Column[T]) Puts(list int) []Replacement[T] { return c.puts[list] }

// Sample describes a stale command of the column, once gathered.
func (c *Column[T]) Sample(typeID uint16, kind Kind, id handle.ID, sequence int) Sample {
	return Sample{Handle: id, TypeID: typeID, Kind: kind, Pass: c.pass, Task: c.task, Sequence: sequence}
}

// split takes a provisional handle apart into segment number and offset.
func split(id handle.ID) (number uint32, offset int) {
	return id.Slot() >> offsetBits, int(id.Slot() & (segmentItems - 1))
}
