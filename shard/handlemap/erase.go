package handlemap

import (
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/shard/handle"
)

// Erase removes the item that h names and reports whether there was one.
// Erasing twice is safe: the second call changes nothing and reports false.
//
// Erase takes O(1) amortized time. It moves the item of the last row into the gap, so it
// changes the order of [Map.All] but no handle. Pointers obtained from
// [Map.Get] are no longer good.
func (m *Map[T]) Erase(h handle.Of[T]) bool { return dense.Erase(&m.dense, h) }

// EraseItems removes the items that hs name and returns how many there were.
// Duplicates count once; stale, foreign and null handles not at all.
//
// The outcome depends on the set of items erased and not on the order of hs:
// with n the new length, the gaps below row n take the surviving items at or
// above row n, both in ascending order, and the freed slots join the freelist
// in ascending order of the rows they had. It takes O(len(hs) + Len()/4096)
// time (op=eraseitems).
func (m *Map[T]) EraseItems(hs []handle.Of[T]) int {
	if len(hs) == 1 { // no need to mark
		if m.Erase(hs[0]) {
			return 1
		}
		return 0
	}
	return m.bound().EraseItems(handle.IDs(hs))
}

// EraseFunc removes the items for which f returns true and returns how many
// there were, in the order of [Map.EraseItems]. f sees every item once, in
// dense order, before any is removed; it may change the item but not the map.
// When f panics nothing is removed. It takes O(Len()) time.
func (m *Map[T]) EraseFunc(f func(h handle.Of[T], v *T) bool) int {
	check.Given(f != nil, "handlemap: EraseFunc", "function")
	return dense.EraseFunc(m.bound(), f)
}

// Clear removes every item and keeps the memory. The slots of the items join
// the freelist in dense order, behind those that are vacant already and whose
// generations do not change. It takes O(Len()) time (op=clear). The next insert may
// grow an array, though there is room for its item: 4 bytes an item of [Map.Cap], of
// which the freelist has what was there.
func (m *Map[T]) Clear() { m.bound().Clear() }

// Reset removes every item and gives back the memory. While the highest
// generation ever issued is below 32,768 it also forgets the slots: new ones
// begin above that generation, so that handles from before stay stale. Later
// it keeps the slots and does what [Map.Clear] does. It takes O(1) time, plus
// that of Clear in the second case.
func (m *Map[T]) Reset() { m.bound().Reset() }
