package slotmap

import (
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/paged"
)

// Erase removes the item of h and reports whether it existed. It takes O(1) amortized time
// and moves no item. The row stays empty until its slot is issued again.
func (m *Map[T]) Erase(h handle.Of[T]) bool { return paged.Erase(m.bound(), h) }

// EraseItems removes the items of hs and returns their number. Duplicates count once; stale,
// foreign and null handles do not count.
//
// The outcome depends on the set of items and not on the order of hs: the freed slots join the
// freelist in ascending order. It takes O(len(hs) + Rows()/4096) time.
func (m *Map[T]) EraseItems(hs []handle.Of[T]) int { return m.bound().EraseItems(handle.IDs(hs)) }

// EraseFunc removes the items for which f returns true, in the order of [Map.EraseItems],
// and returns their number. f sees every item once, by ascending row, before any removal;
// it may change the item but not the map. Nothing is removed if f panics. It takes O(Len()
// + Rows()/64) time.
func (m *Map[T]) EraseFunc(f func(h handle.Of[T], v *T) bool) int {
	check.Given(f != nil, "slotmap: EraseFunc", "function")
	return paged.EraseFunc(m.bound(), f)
}

// Clear removes every item and keeps the memory. The slots join the freelist in ascending
// order, after the slots vacant before, whose generations do not change. It takes O(Len() +
// Rows()/64) time.
func (m *Map[T]) Clear() { m.bound().Clear() }

// Reset removes every item and releases the memory. While the highest generation issued is
// below 32,768 it also drops the slots: new slots begin above that generation, so that old
// handles stay stale. Later it keeps the slots and is [Map.Clear]. It takes O(Rows()/4096)
// time, and the time of Clear if it keeps the slots.
func (m *Map[T]) Reset() { m.bound().Reset() }
