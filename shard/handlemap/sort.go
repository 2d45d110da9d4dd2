package handlemap

import (
	"fmt"
	"slices"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// SortFunc orders the dense set by cmp, which is negative when a comes first.
// The sort is stable. Every handle keeps naming its item; pointers are no longer
// good. cmp sees the items where they lie; it may not change the map, and when
// it panics nothing has moved.
//
// SortFunc takes O(n log n) comparisons, about n if the items are in order
// already, and 8 bytes of scratch per item, which the map keeps (op=sort).
func (m *Map[T]) SortFunc(cmp func(a, b *T) int) { m.SortRange(0, len(m.items), cmp) }

// SortRange orders the rows i to j-1 as [Map.SortFunc] orders all. It panics
// unless 0 <= i <= j <= Len().
func (m *Map[T]) SortRange(i, j int, cmp func(a, b *T) int) {
	m.guard("SortRange")
	if i < 0 || i > j || j > len(m.items) {
		panic(fmt.Sprintf("handlemap: SortRange of rows %d to %d of a map of %d", i, j, len(m.items)))
	}
	m.sortRange(i, j, cmp)
	m.touchRange(i, j)
}

// sortRange is SortRange without its checks; it returns the number of rows that
// moved.
func (m *Map[T]) sortRange(i, j int, cmp func(a, b *T) int) (moves int) {
	order, spare := m.scratchRows(i, j)
	m.busy++
	defer func() { m.busy-- }()
	order = mergeSort(m.items, order, spare, cmp)
	return m.arrange(i, order)
}

// scratchRows returns the rows i to j-1 in order, and as much space again.
func (m *Map[T]) scratchRows(i, j int) (order, spare []sparse.Row) {
	n := j - i
	m.order = slices.Grow(m.order[:0], 2*n)[:2*n]
	order, spare = m.order[:n:n], m.order[n:]
	for k := range order {
		order[k] = sparse.Row(i + k)
	}
	return order, spare
}

// arrange moves the item at row order[k] to row first+k, for every k; order is
// a permutation of the rows from first on, and is used up. It walks the cycles
// of the permutation, so that each item moves once and needs no second array.
func (m *Map[T]) arrange(first int, order []sparse.Row) (moves int) {
	items, meta := m.items, m.meta
	for k := range order {
		begin := first + k
		from := int(order[k])
		if from == begin {
			continue
		}
		item, slot := items[begin], meta[begin]
		at := begin
		for from != begin {
			items[at], meta[at] = items[from], meta[from]
			order[at-first] = sparse.Row(at)
			at, from = from, int(order[from-first])
			moves++
		}
		items[at], meta[at] = item, slot
		order[at-first] = sparse.Row(at)
	}
	if moves > 0 {
		for k, slot := range meta[first : first+len(order)] {
			m.set.SetRow(slot, sparse.Row(first+k))
		}
	}
	return moves
}

// SortAs moves the items that hs name to the first rows, in the order of hs; the
// others follow in the order they had. Stale handles are passed over, and of
// duplicates the first counts. It takes O(len(hs) + n) time and keeps the
// scratch of [Map.SortFunc].
func (m *Map[T]) SortAs(hs []handle.Of[T]) {
	m.guard("SortAs")
	_, order := m.scratchRows(0, len(m.items))
	order = order[:0]
	marks := m.scratch()
	for _, h := range hs {
		if m.Mark(marks, h.ID) == Marked {
			row, _ := m.set.Lookup(h.ID)
			order = append(order, row)
		}
	}
	for row := range m.items {
		if !marks.Rows.Has(row) {
			order = append(order, sparse.Row(row))
		}
	}
	marks.Clear()
	m.arrange(0, order)
	m.touchRange(0, len(m.items))
}

// Partition moves the items for which pred returns true to the first rows and
// returns how many there are; both parts keep their order. pred sees every item
// once, in dense order, before any moves; it may not change the map, and when it
// panics nothing has moved. Partition takes O(n) time and keeps the scratch of
// [Map.SortFunc].
func (m *Map[T]) Partition(pred func(*T) bool) int {
	m.guard("Partition")
	_, order := m.scratchRows(0, len(m.items))
	front := m.choose(order, pred)
	m.arrange(0, order)
	m.touchRange(0, len(m.items))
	return front
}

// choose writes the chosen rows to the front of order and the others behind
// them, and returns the number of the first.
func (m *Map[T]) choose(order []sparse.Row, pred func(*T) bool) int {
	m.busy++
	defer func() { m.busy-- }()
	front, back := 0, len(order)
	for row := range m.items {
		if pred(&m.items[row]) {
			order[front] = sparse.Row(row)
			front++
		} else {
			back--
			order[back] = sparse.Row(row)
		}
	}
	slices.Reverse(order[back:])
	return front
}

// Swap exchanges the rows of the items that h1 and h2 name, and reports whether
// both name one; if not, nothing changes. It takes O(1) time.
func (m *Map[T]) Swap(h1, h2 handle.Of[T]) bool {
	m.guard("Swap")
	r1, ok1 := m.set.Lookup(h1.ID)
	r2, ok2 := m.set.Lookup(h2.ID)
	if ok1 && ok2 && r1 != r2 {
		m.exchange(r1, r2)
		m.touchRange(int(r1), int(r1)+1)
		m.touchRange(int(r2), int(r2)+1)
	}
	return ok1 && ok2
}

// exchange swaps two rows.
func (m *Map[T]) exchange(a, b sparse.Row) {
	m.items[a], m.items[b] = m.items[b], m.items[a]
	m.meta[a], m.meta[b] = m.meta[b], m.meta[a]
	m.set.SetRow(m.meta[a], a)
	m.set.SetRow(m.meta[b], b)
}

// touchRange marks the rows i to j-1 as changed for Defragment.
func (m *Map[T]) touchRange(i, j int) {}
