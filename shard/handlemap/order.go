package handlemap

import (
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// SortFunc orders the dense set by cmp, which is negative when a comes first.
// The sort is stable. Every handle keeps naming its item; pointers are no longer
// good. cmp sees the items where they lie; it may not change the map, and when
// it panics every item is where it was before.
//
// SortFunc takes O(n log n) comparisons, about n if the items are in order
// already. Its scratch, which the map keeps until [Map.Shrink], is 12 bytes per
// item and, for items of up to 64 bytes, room for as many items (op=sort).
func (m *Map[T]) SortFunc(cmp func(a, b *T) int) {
	check.Given(cmp != nil, "handlemap: SortFunc", "function")
	m.bound().SortFunc(items.Compare(cmp))
}

// SortRange orders the rows i to j-1 as [Map.SortFunc] orders all. It panics
// unless 0 <= i <= j <= Len().
func (m *Map[T]) SortRange(i, j int, cmp func(a, b *T) int) {
	check.Given(cmp != nil, "handlemap: SortRange", "function")
	m.bound().SortRange(i, j, items.Compare(cmp))
}

// SortByKey orders the dense set by ascending key. The sort is stable. Every
// handle keeps naming its item; pointers are no longer good. key sees every item
// once, in dense order; it may not change the map, and when it panics nothing
// has moved.
//
// SortByKey takes O(n) time for each 11 bits by which keys differ; where the highest
// log2(n) of these and a few more tell nearly all keys apart, these alone count. It
// takes O(n) in all if the items are in order already. Its scratch is that of [Map.SortFunc] and 32 to
// 48 bytes per item (op=sort).
func (m *Map[T]) SortByKey(key func(*T) uint64) {
	check.Given(key != nil, "handlemap: SortByKey", "function")
	m.bound().SortByKey(items.Key(key))
}

// SortAs moves the items that hs name to the first rows, in the order of hs; the
// others follow in the order they had. Stale handles are passed over, and of
// duplicates the first counts. It takes O(len(hs) + n) time and keeps the
// scratch of [Map.SortFunc].
func (m *Map[T]) SortAs(hs []handle.Of[T]) { m.bound().SortAs(handle.IDs(hs)) }

// Partition moves the items for which pred returns true to the first rows and
// returns how many there are; both parts keep their order. pred sees every item
// once, in dense order, before any moves; it may not change the map, and when it
// panics nothing has moved. Partition takes O(n) time and keeps the scratch of
// [Map.SortFunc].
func (m *Map[T]) Partition(pred func(*T) bool) int {
	check.Given(pred != nil, "handlemap: Partition", "function")
	return m.bound().Partition(items.Chosen(pred))
}

// Swap exchanges the rows of the items that h1 and h2 name, and reports whether
// both name one; if not, nothing changes. It takes O(1) time.
func (m *Map[T]) Swap(h1, h2 handle.Of[T]) bool { return m.bound().Swap(h1.ID, h2.ID) }

// Defragment orders the dense set by cmp a little at a time: it makes at most
// budget comparisons and exchanges of rows, counted together, and goes on in the
// next call where this one stopped. A budget of 0 is no bound; a negative one
// panics. It returns the moves it made (exchanges or, without a bound, items
// moved straight to their rows) and whether the map is in order now. Every handle
// keeps naming its item; pointers are no longer good. Items that compare equal may
// end in any order.
//
// Defragment knows what inserting, erasing and reordering changed. Keys changed
// in place must be reported by [Map.Touch], and cmp must be the same function in
// every call; done means in order only then. Defragment(nil, 0) forgets what is
// known, for another cmp or after changes that nobody noted; it returns 0 and
// false.
//
// After k changes it takes O(k log n) comparisons and at most n moves over all
// calls, whatever their budgets. Changes made between two calls of such a round
// undo nothing; they are left for a next one. Without changes a call takes O(1)
// time. Besides, a round takes O(n) time and up to 16 bytes of scratch per item,
// which the map keeps until [Map.Shrink] (op=defragment).
//
// cmp sees the items where they lie; it may not change the map. When it panics
// the work done so far is kept.
//
// The idea is from "Game Engine Containers - handle_map" (Jeff Kiah), where an
// insertion sort stops when its budget is used up. It begins anew at the first
// row in every call and cannot tell a pause from the end; the cursor and the set
// of changed rows are what is new here.
func (m *Map[T]) Defragment(cmp func(a, b *T) int, budget int) (moves int, done bool) {
	return dense.Defragment(&m.dense, cmp, budget)
}

// Touch notes that the item h names has changed in a way that may matter to the
// order, for [Map.Defragment]. It reports whether there is such an item, and
// takes O(1) time.
func (m *Map[T]) Touch(h handle.Of[T]) bool { return m.dense.Touch(h.ID) }

// TouchRows notes, as [Map.Touch] does, that the items at the rows i to j-1 have
// changed. It takes O((j-i)/64) time, none in a map that was never defragmented,
// and panics unless 0 <= i <= j <= Len().
func (m *Map[T]) TouchRows(i, j int) { m.dense.TouchRows(i, j) }
