package apply

import (
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// changes are what the last flush erased and replaced in a shard, both in the
// order of the rows before it.
type changes struct {
	tracked  bool
	erased   []handle.ID
	values   items.Slice // of the items erased, before the batch
	replaced []handle.ID

	erasedPeak, replacedPeak highwater.Mark
	keepErased, keepReplaced int // capacities beyond these are given up

	onErased, onReplaced func(id handle.ID, item unsafe.Pointer) bool // bound once
}

// Track makes the shard remember what a flush does to it.
func (s *Shard) Track() { s.changes.tracked = true }

// ErasedItems returns the handles of the items that the last flush erased, if the
// shard tracks it, and their values before the batch.
func (s *Shard) ErasedItems() (ids []handle.ID, values items.Slice) {
	return s.changes.erased, s.changes.values
}

// ReplacedItems returns the handles of the items that the last flush put a value to, if
// the shard tracks it.
func (s *Shard) ReplacedItems() []handle.ID { return s.changes.replaced }

// ForgetChanges empties what ErasedItems and ReplacedItems return and lets the collector
// have it.
func (s *Shard) ForgetChanges() { s.changes.forget(s.typ) }

func (c *changes) forget(t *items.Type) {
	t.Clear(c.values)
	c.values = c.values.Resize(0)
	c.erased, c.replaced = c.erased[:0], c.replaced[:0]
}

// expect is told once per flush how long the lists will be.
func (c *changes) expect(erased, replaced int) {
	c.keepErased = c.erasedPeak.Note(erased, fewChanges)
	c.keepReplaced = c.replacedPeak.Note(replaced, fewChanges)
}

const fewChanges = 64 // kept anyway

func (c *changes) hasRoom(erased, replaced int) bool {
	return !c.tracked || fits(len(c.erased), cap(c.erased), erased, c.keepErased) &&
		fits(len(c.replaced), cap(c.replaced), replaced, c.keepReplaced)
}

// makeRoom obtains the memory for the lists. What they hold stays: it is good
// until the flush has succeeded.
func (c *changes) makeRoom(t *items.Type, erased, replaced int) {
	if !c.tracked {
		return
	}
	if n := len(c.erased); !fits(n, cap(c.erased), erased, c.keepErased) {
		c.erased = append(make([]handle.ID, 0, max(erased, n)), c.erased...)
		c.values = t.Grown(c.values, max(erased, n)).Resize(n)
	}
	if n := len(c.replaced); !fits(n, cap(c.replaced), replaced, c.keepReplaced) {
		c.replaced = append(make([]handle.ID, 0, max(replaced, n)), c.replaced...)
	}
}

// fits reports whether n elements find room in memory for so many, and whether
// that, unless it holds many, is no more than what is worth keeping.
func fits(length, capacity, n, keep int) bool {
	return n <= capacity && capacity <= max(keep, length)
}

// record notes the marked items before anything happens to them.
func (c *changes) record(m Map, t *items.Type, erasing, putting *sparse.Marks) {
	if !c.tracked {
		return
	}
	c.forget(t)
	if c.onErased == nil {
		c.bind(t)
	}
	m.Marked(erasing, c.onErased)
	m.Marked(putting, c.onReplaced)
}

func (c *changes) bind(t *items.Type) {
	c.onErased = func(id handle.ID, item unsafe.Pointer) bool {
		n := len(c.erased)
		c.erased = append(c.erased, id)
		c.values = c.values.Resize(n + 1)
		t.Set(c.values.Pointer(n, t.Size), item)
		return true
	}
	c.onReplaced = func(id handle.ID, _ unsafe.Pointer) bool {
		c.replaced = append(c.replaced, id)
		return true
	}
}
