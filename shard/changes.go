package shard

import (
	"handloom/internal/habit"
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

	ofErased, ofReplaced     habit.Habit
	keepErased, keepReplaced int // capacities beyond these are given up

	onErased, onReplaced func(h handle.Of[T], v *T) // bound once
}

// Track makes the shard remember what a flush does to it.
func (s *Shard[T]) Track() { s.changes.tracked = true }

// Changes returns what the last flush erased and replaced, if the shard tracks it.
func (s *Shard[T]) Changes() (erased []Change[T], replaced []handle.Of[T]) {
	return s.changes.erased, s.changes.replaced
}

// ForgetChanges empties what Changes returns and lets the collector have it.
func (s *Shard[T]) ForgetChanges() {
	c := &s.changes
	clear(c.erased)
	c.erased, c.replaced = c.erased[:0], c.replaced[:0]
}

// expect is told once per flush how long the lists will be.
func (c *changes[T]) expect(erased, replaced int) {
	c.keepErased = c.ofErased.Note(erased, fewChanges)
	c.keepReplaced = c.ofReplaced.Note(replaced, fewChanges)
}

const fewChanges = 64 // kept anyway

func (c *changes[T]) hasRoom(erased, replaced int) bool {
	return !c.tracked || fits(c.erased, erased, c.keepErased) && fits(c.replaced, replaced, c.keepReplaced)
}

func (c *changes[T]) makeRoom(erased, replaced int) {
	if c.tracked {
		c.erased = fit(c.erased, erased, c.keepErased)
		c.replaced = fit(c.replaced, replaced, c.keepReplaced)
	}
}

// fits reports whether n elements find room in the memory of s, and whether
// that, unless it holds many, is no more than what is worth keeping.
func fits[E any](s []E, n, keep int) bool {
	return n <= cap(s) && cap(s) <= max(keep, len(s))
}

// fit sees to it. The elements stay: they are good until the flush has
// succeeded.
func fit[E any](s []E, n, keep int) []E {
	if fits(s, n, keep) {
		return s
	}
	return append(make([]E, 0, max(n, len(s))), s...)
}

// record notes the marked items before anything happens to them.
func (c *changes[T]) record(m Container[T], erasing, putting *handlemap.Marks) {
	if !c.tracked {
		return
	}
	clear(c.erased)
	c.erased, c.replaced = c.erased[:0], c.replaced[:0]
	if c.onErased == nil {
		c.onErased = func(h handle.Of[T], v *T) { c.erased = append(c.erased, Change[T]{h, *v}) }
		c.onReplaced = func(h handle.Of[T], _ *T) { c.replaced = append(c.replaced, h) }
	}
	m.VisitMarked(erasing, c.onErased)
	m.VisitMarked(putting, c.onReplaced)
}
