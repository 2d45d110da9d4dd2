package handlemap

import (
	"slices"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// SortAs moves the items that hs name to the first rows, in the order of hs; the
// others follow in the order they had. Stale handles are passed over, and of
// duplicates the first counts. It takes O(len(hs) + n) time and keeps the
// scratch of [Map.SortFunc].
func (m *Map[T]) SortAs(hs []handle.Of[T]) {
	m.guard("SortAs")
	order, spare := m.rowsFrom(0, len(m.items)), m.spareRows(len(m.items))
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
	m.reorder(0, order, spare)
}

// Partition moves the items for which pred returns true to the first rows and
// returns how many there are; both parts keep their order. pred sees every item
// once, in dense order, before any moves; it may not change the map, and when it
// panics nothing has moved. Partition takes O(n) time and keeps the scratch of
// [Map.SortFunc].
func (m *Map[T]) Partition(pred func(*T) bool) int {
	m.guard("Partition")
	order, spare := m.rowsFrom(0, len(m.items)), m.spareRows(len(m.items))
	front := m.choose(order, pred)
	m.reorder(0, order, spare)
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
