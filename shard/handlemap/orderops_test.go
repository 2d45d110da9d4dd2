package handlemap_test

import (
	"cmp"
	"slices"

	"handloom/shard/handle"
)

// compare is the one order of a history: that of keys, of which many are equal.
func (h *history[T]) compare(a, b *T) int { return cmp.Compare(h.key(a), h.key(b)) }

// compareValues is compare as the model needs it.
func (h *history[T]) compareValues(a, b uint64) int {
	x, y := h.item(a), h.item(b)
	return h.compare(&x, &y)
}

func (h *history[T]) backwards(a, b *T) int { return h.compare(b, a) }

// report tells the map of a change in place, in one way or another.
func (h *history[T]) report(hd handle.Of[T]) {
	if row, ok := h.m.RowOf(hd); ok && h.below(4, "report") == 0 {
		h.m.TouchRows(max(0, row-1), row+1)
	} else if h.m.Touch(hd) != ok {
		h.Fatalf("Touch of %v, live: %t", hd, ok)
	}
}

func (h *history[T]) sort() {
	if h.below(2, "by key") == 0 {
		h.m.SortFunc(h.compare)
	} else {
		h.m.SortByKey(h.key)
	}
	h.exact.sort(0, len(h.exact.rows), h.compareValues)
}

func (h *history[T]) sortRange() {
	i := h.below(len(h.exact.rows)+1, "i")
	j := i + h.below(len(h.exact.rows)-i+1, "j")
	h.m.SortRange(i, j, h.backwards)
	h.exact.sort(i, j, func(a, b uint64) int { return h.compareValues(b, a) })
}

func (h *history[T]) sortAs() {
	ids, rows := h.someRows()
	var hs []handle.Of[T]
	for _, id := range ids {
		hs = append(hs, handle.Of[T]{ID: id})
	}
	h.m.SortAs(hs)
	h.exact.sortAs(rows)
}

func (h *history[T]) partition() {
	limit := uint64(h.below(12, "limit"))
	panicAt := h.below(32, "panic at")
	visited, front := 0, 0
	panicked := panicOf(func() {
		front = h.m.Partition(func(v *T) bool {
			if visited == panicAt {
				panic("on purpose")
			}
			if !h.same(*v, h.exact.rows[visited].value) {
				h.Fatalf("visit %d is of %v", visited, *v)
			}
			visited++
			return h.key(v) < limit
		})
	})
	if panicked != nil {
		return
	}
	var rows []int
	for row, r := range h.exact.rows {
		if v := h.item(r.value); h.key(&v) < limit {
			rows = append(rows, row)
		}
	}
	if front != len(rows) || visited != len(h.exact.rows) {
		h.Fatalf("Partition says %d after %d visits, want %d after %d", front, visited, len(rows), len(h.exact.rows))
	}
	h.exact.sortAs(rows)
}

func (h *history[T]) swap() {
	a, b := h.anyHandle(), h.anyHandle()
	rowA, okA := h.exact.rowOf(a)
	rowB, okB := h.exact.rowOf(b)
	if h.m.Swap(handle.Of[T]{ID: a}, handle.Of[T]{ID: b}) != (okA && okB) {
		h.Fatalf("Swap of %v and %v, live: %t, %t", a, b, okA, okB)
	}
	if okA && okB {
		rows := h.exact.rows
		rows[rowA], rows[rowB] = rows[rowB], rows[rowA]
	}
}

// defragment checks what is true of any order of equal items, and takes that
// over.
func (h *history[T]) defragment() {
	budget, panicAt := h.below(24, "budget"), h.below(64, "panic at")
	if panicAt == 63 {
		h.m.Defragment(nil, budget)
		return
	}
	calls, moves, done := 0, 0, false
	panicked := panicOf(func() {
		moves, done = h.m.Defragment(func(a, b *T) int {
			if calls++; calls > panicAt {
				panic("on purpose")
			}
			return h.compare(a, b)
		}, budget)
	})
	// A round that began before the last changes, and one for those.
	if panicked == nil && budget == 0 && !done || budget > 0 && calls+moves > budget || moves > 2*len(h.exact.rows) {
		h.Fatalf("%d comparisons and %d moves with budget %d, done: %t", calls, moves, budget, done)
	}
	h.follow(done)
}

// order calls Defragment until it is done.
func (h *history[T]) order() {
	budget := 1 + h.below(8, "budget")
	for calls := 0; ; calls++ {
		moves, done := h.m.Defragment(h.compare, budget)
		if done || calls > 40*(len(h.exact.rows)+1) {
			h.follow(true)
			return
		}
		if moves > budget {
			h.Fatalf("%d moves with a budget of %d", moves, budget)
		}
	}
}

// follow lets the model take over the order and checks it if it should be right.
func (h *history[T]) follow(done bool) {
	var ids []handle.ID
	for hd := range h.m.Handles() {
		ids = append(ids, hd.ID)
	}
	if !h.exact.follow(ids) {
		h.Fatalf("the rows are %v", ids)
	}
	sorted := slices.IsSortedFunc(h.exact.rows, func(a, b exactRow) int { return h.compareValues(a.value, b.value) })
	if done && !sorted {
		h.Fatalf("done, but in the order %v", h.exact.rows)
	}
}
