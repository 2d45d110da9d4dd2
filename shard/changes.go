package shard

import (
	"slices"

	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// Change is an item that a flush erased: its handle, and its value before the
// batch.
type Change[T any] struct {
	Handle handle.Of[T]
	Value  T
}

// changes are what the last flush erased and replaced in a shard, both in the
// order of the rows before it.
type changes[T any] struct {
	tracked  bool
	erased   []Change[T]
	replaced []handle.Of[T]
}

// Track makes the shard remember what a flush does to it.
func (s *Shard[T]) Track() { s.changes.tracked = true }

// Erased and Replaced return what the last flush erased and replaced, if the
// shard tracks it.
func (s *Shard[T]) Changes() (erased []Change[T], replaced []handle.Of[T]) {
	return s.changes.erased, s.changes.replaced
}

// ForgetChanges empties what Changes returns and lets the collector have it.
func (s *Shard[T]) ForgetChanges() {
	c := &s.changes
	clear(c.erased)
	c.erased, c.replaced = c.erased[:0], c.replaced[:0]
}

func (c *changes[T]) hasRoom(erased, replaced int) bool {
	return !c.tracked || erased <= cap(c.erased) && replaced <= cap(c.replaced)
}

func (c *changes[T]) makeRoom(erased, replaced int) {
	if c.tracked {
		// The lists of the flush before are still good, if this one fails.
		c.erased = slices.Grow(c.erased, max(0, erased-len(c.erased)))
		c.replaced = slices.Grow(c.replaced, max(0, replaced-len(c.replaced)))
	}
}

// record notes the marked items before anything happens to them.
func (c *changes[T]) record(m Container[T], erasing, putting *handlemap.Marks) {
	if !c.tracked {
		return
	}
	clear(c.erased)
	c.erased, c.replaced = c.erased[:0], c.replaced[:0]
	m.VisitMarked(erasing, func(h handle.Of[T], v *T) { c.erased = append(c.erased, Change[T]{h, *v}) })
	m.VisitMarked(putting, func(h handle.Of[T], _ *T) { c.replaced = append(c.replaced, h) })
}
