package slotmap

import (
	"handloom/internal/check"
	"handloom/internal/paged"
	"handloom/shard/handle"
)

// Erase removes the item that h names and reports whether there was one.
// Erasing twice is safe: the second call changes nothing and reports false.
//
// Erase takes O(1) amortized time and moves no item. The row stays empty until its slot
// is issued again.
func (m *Map[T]) Erase(h handle.Of[T]) bool { return paged.Erase(m.bound(), h) }

// EraseItems removes the items that hs name and returns how many there were.
// Duplicates count once; stale, foreign and null handles not at all.
//
// The outcome depends on the set of items erased and not on the order of hs:
// the freed slots join the freelist in ascending order. It takes
// O(len(hs) + Rows()/4096) time.
func (m *Map[T]) EraseItems(hs []handle.Of[T]) int { return m.bound().EraseItems(handle.IDs(hs)) }

// EraseFunc removes the items for which f returns true and returns how many
// there were, in the order of [Map.EraseItems]. f sees every item once, in
// ascending order of rows, before any is removed; it may change the item but
// not the map. When f panics nothing is removed. It takes
// O(Len() + Rows()/64) time.
func (m *Map[T]) EraseFunc(f func(h handle.Of[T], v *T) bool) int {
	check.Given(f != nil, "slotmap: EraseFunc", "function")
	return paged.EraseFunc(m.bound(), f)
}

// Clear removes every item and keeps the memory. The slots of the items join
// the freelist in ascending order, behind those that are vacant already and
// whose generations do not change. It takes O(Len() + Rows()/64) time.
func (m *Map[T]) Clear() { m.bound().Clear() }

// Reset removes every item and gives back the memory. While the highest
// generation ever issued is below 32,768 it also forgets the slots: new ones
// begin above that generation, so that handles from before stay stale. Later
// it keeps the slots and does what [Map.Clear] does. It takes O(Rows()/4096)
// time, plus that of Clear in the second case.
func (m *Map[T]) Reset() { m.bound().Reset() }
