package handlemap

import (
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/dense"
)

// Erase removes the item of h and reports whether it existed. It takes O(1) amortized time. It
// moves the last row into the gap, so it changes the order of [Map.All] but no handle. Pointers
// from [Map.Get] become invalid.
func (m *Map[T]) Erase(h handle.Of[T]) bool { return dense.Erase(&m.dense, h) }

// EraseItems removes the items of hs and returns their number. Duplicates count once; stale,
// foreign and null handles do not count.
//
// The outcome depends on the set of items and not on the order of hs: with n the new length, the
// gaps below row n receive the remaining items at or above row n, both in ascending order, and
// the freed slots join the freelist by ascending row. It takes O(len(hs) + Len()/4096) time
// (op=eraseitems).
func (m *Map[T]) EraseItems(hs []handle.Of[T]) int {
	if len(hs) == 1 { // without marks
		if m.Erase(hs[0]) {
			return 1
		}
		return 0
	}
	return m.bound().EraseItems(handle.IDs(hs))
}

// EraseFunc removes the items for which f returns true, in the order of [Map.EraseItems],
// and returns their number. f sees every item once, in dense order, before any removal; it
// may change the item but not the map. Nothing is removed if f panics. It takes O(Len())
// time.
func (m *Map[T]) EraseFunc(f func(h handle.Of[T], v *T) bool) int {
	check.Given(f != nil, "handlemap: EraseFunc", "function")
	return dense.EraseFunc(m.bound(), f)
}

// Clear removes every item and keeps the memory. The slots join the freelist in dense
// order, after the slots vacant before, whose generations do not change. It takes O(Len())
// time (op=clear). The next insert may allocate 4 bytes per item of [Map.Cap], because the
// freelist takes over an array.
func (m *Map[T]) Clear() { m.bound().Clear() }

// Reset removes every item and releases the memory. While the highest generation issued is
// below 32,768 it also drops the slots: new slots begin above that generation, so that old
// handles stay stale. Later it keeps the slots and is [Map.Clear]. It takes O(1)
// time, or the time of Clear if it keeps the slots.
func (m *Map[T]) Reset() { m.bound().Reset() }
