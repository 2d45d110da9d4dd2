package handlemap

import (
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
)

// SortFunc sorts the dense set stably by cmp, which is negative if a comes first. Handles still
// name their items; pointers become invalid. cmp sees the items in place and must not change the
// map. If cmp panics the order is unchanged.
//
// SortFunc takes O(n log n) comparisons, about n if the items are sorted. Its scratch, kept until
// [Map.Shrink], is 12 bytes per item and, for items of up to 64 bytes, a copy of the items
// (op=sort).
func (m *Map[T]) SortFunc(cmp func(a, b *T) int) {
	check.Given(cmp != nil, "handlemap: SortFunc", "function")
	m.bound().SortFunc(items.Compare(cmp))
}

// SortRange is [Map.SortFunc] for the rows i to j-1. It panics unless 0 <= i <= j <= Len().
func (m *Map[T]) SortRange(i, j int, cmp func(a, b *T) int) {
	check.Given(cmp != nil, "handlemap: SortRange", "function")
	m.bound().SortRange(i, j, items.Compare(cmp))
}

// SortByKey sorts the dense set stably by ascending key. Handles still name their items; pointers
// become invalid. key sees every item once, in dense order, and must not change the map. If key
// panics nothing has moved.
//
// SortByKey takes O(n) time for each 11 bits in which keys differ; if the highest log2(n) of these
// and a few more distinguish nearly all keys, only these count. It takes O(n) time if the items
// are sorted. Its scratch, kept until [Map.Shrink], is 16 bytes per item if the bits in which keys
// differ are within 32, else 24, or 64 if many keys differ only in low bits; and, for items of up
// to 64 bytes, a copy of the items (op=sort, op=firstsort).
func (m *Map[T]) SortByKey(key func(*T) uint64) {
	check.Given(key != nil, "handlemap: SortByKey", "function")
	m.bound().SortByKey(items.Key(key))
}

// SortAs moves the items of hs to the first rows, in the order of hs; other items follow in
// their old order. It skips stale handles and repeated handles. It takes O(len(hs) + n)
// time and keeps the scratch of [Map.SortFunc].
func (m *Map[T]) SortAs(hs []handle.Of[T]) { m.bound().SortAs(handle.IDs(hs)) }

// Partition moves the items for which pred returns true to the first rows and returns their
// number; both parts keep their order. pred sees every item once, in dense order, before
// any move, and must not change the map. If pred panics nothing has moved. It takes O(n)
// time and keeps the scratch of [Map.SortFunc].
func (m *Map[T]) Partition(pred func(*T) bool) int {
	check.Given(pred != nil, "handlemap: Partition", "function")
	return m.bound().Partition(items.Chosen(pred))
}

// Swap exchanges the rows of two items and reports whether both exist; otherwise nothing
// changes. It takes O(1) time.
func (m *Map[T]) Swap(h1, h2 handle.Of[T]) bool { return m.bound().Swap(h1.ID, h2.ID) }

// Defragment sorts the dense set by cmp in small steps: it makes at most budget comparisons and
// exchanges of rows, counted together, and continues in the next call. A budget of 0 means no
// limit; a negative budget panics. It returns the number of moves (exchanges or, without a limit,
// moved items) and whether the map is now in order. Handles still name their items; pointers
// become invalid. Items that compare equal may end in any order.
//
// Defragment knows the changes by inserts, erases and reorders. The caller reports keys changed in
// place with [Map.Touch] and passes the same cmp in every call; done means in order only then.
// Defragment(nil, 0) resets its state, for another cmp or after unreported changes; it returns 0
// and false.
//
// After k changes it takes O(k log n) comparisons and at most n moves over all calls, whatever
// their budgets. Changes between two calls of a round wait for the next round. Without changes a
// call takes O(1) time. A round also takes O(n) time and up to 16 bytes of scratch per item, kept
// until [Map.Shrink] (op=defragment).
//
// cmp sees the items in place and must not change the map. If cmp panics the work so far is kept.
//
// The idea is from "Game Engine Containers - handle_map" (Jeff Kiah), an insertion sort that stops
// at the end of its budget. It restarts at the first row in every call and cannot distinguish a
// pause from the end; the cursor and the set of changed rows are new here.
func (m *Map[T]) Defragment(cmp func(a, b *T) int, budget int) (moves int, done bool) {
	return dense.Defragment(&m.dense, cmp, budget)
}

// Touch marks the item of h as changed for [Map.Defragment] and reports whether the item
// exists. It takes O(1) time.
func (m *Map[T]) Touch(h handle.Of[T]) bool { return m.dense.Touch(h.ID) }

// TouchRows is [Map.Touch] for the items at the rows i to j-1. It takes O((j-i)/64) time,
// none in a map that was never defragmented. It panics unless 0 <= i <= j <= Len().
func (m *Map[T]) TouchRows(i, j int) { m.dense.TouchRows(i, j) }
