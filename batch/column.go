package batch

import (
	"unsafe"

	"handloom/internal/habit"
	"handloom/shard/handle"
)

// Recorded is a column of any item type.
type Recorded interface {
	reset()
	load() Load
}

// Column is what one queue recorded for one table, but for erases, which need
// no type.
type Column[T any] struct {
	current  []T          // creates of the newest segment
	base     handle.ID    // the provisional handle of current[0]
	segments []segment[T] // the first used ones hold creates; the newest is stale while current grows
	used     int
	puts     [][]Replacement[T] // by shard
	pointers bool               // values hold pointers that the collector follows
	staged   bool               // pointers to creates were given out: arrays do not move until reset
	key      Key                // of the queue, once gathered

	created habit.Habit   // segments
	put     []habit.Habit // by shard
}

type segment[T any] struct {
	values []T
	number uint64 // by which names find it
	habit  habit.Habit
}

// Replacement is a put: Value replaces the item that Handle names.
type Replacement[T any] struct {
	Handle handle.ID
	Value  T
}

// reset empties the column and keeps its memory, unless recent batches needed
// much less. Payload is zeroed where the collector would otherwise keep alive
// what it points to.
func (c *Column[T]) reset() {
	c.seal()
	for i := range c.segments[:c.used] {
		s := &c.segments[i]
		if c.pointers {
			clear(s.values)
		}
		s.values = habit.Trim(&s.habit, s.values)
	}
	c.created.Note(c.used, 1)
	if recent := c.created.Recent(); c.created.Begins() && len(c.segments) > recent {
		clear(c.segments[recent:])
		c.segments = c.segments[:recent]
	}
	c.current, c.used, c.staged = nil, 0, false
	for i := range c.puts {
		if c.pointers {
			clear(c.puts[i])
		}
		c.puts[i] = habit.Trim(&c.put[i], c.puts[i])
	}
}

func (c *Column[T]) load() Load {
	c.seal()
	var value T
	var put Replacement[T]
	creates, puts := 0, 0
	for i := range c.segments[:c.used] {
		creates += len(c.segments[i].values)
	}
	for i := range c.puts {
		puts += len(c.puts[i])
	}
	return Load{creates + puts, int64(creates)*int64(unsafe.Sizeof(value)) + int64(puts)*int64(unsafe.Sizeof(put))}
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

// Puts returns the puts to a shard, in sequence.
func (c *Column[T]) Puts(shard int) []Replacement[T] { return c.puts[shard] }

// Key returns the key of the queue, once gathered.
func (c *Column[T]) Key() Key { return c.key }
