package handlemap

import (
	"slices"
	"unsafe"

	"handloom/internal/sparse"
)

// rowsFrom returns the rows i to j-1 in order, in scratch of the map.
func (m *Map[T]) rowsFrom(i, j int) []sparse.Row {
	m.order = slices.Grow(m.order[:0], j-i)[:j-i]
	for k := range m.order {
		m.order[k] = sparse.Row(i + k)
	}
	return m.order
}

// spareRows returns other scratch of the map, for n rows.
func (m *Map[T]) spareRows(n int) []sparse.Row {
	m.spare = slices.Grow(m.spare[:0], n)[:n]
	return m.spare
}

// reorder arranges the rows from first on and notes that for Defragment.
func (m *Map[T]) reorder(first int, order, spare []sparse.Row) {
	if m.arrange(first, order, spare) > 0 {
		m.touchRange(first, first+len(order))
	}
}

// arrange moves the item at row order[k] to row first+k, for every k; order is
// a permutation of the rows from first on. It uses up order and spare, which is
// as long, and returns how many items it moved.
func (m *Map[T]) arrange(first int, order, spare []sparse.Row) (moves int) {
	k := 0
	for k < len(order) && int(order[k]) == first+k {
		k++
	}
	if k == len(order) {
		return 0
	}
	first, order, spare = first+k, order[k:], spare[k:]
	m.arrangeOwners(first, order, spare)
	if unsafe.Sizeof(*new(T)) <= lineBytes {
		return m.gather(first, order)
	}
	return permute(m.items[first:first+len(order)], sparse.Row(first), order)
}

// arrangeOwners does for the meta set what arrange does for the items, and tells
// the slots.
func (m *Map[T]) arrangeOwners(first int, order, spare []sparse.Row) {
	for k, row := range order {
		spare[k] = sparse.Row(m.meta[row])
	}
	meta := m.meta[first : first+len(order)]
	for k, slot := range spare[:len(order)] {
		meta[k] = sparse.Slot(slot)
		m.set.SetRow(sparse.Slot(slot), sparse.Row(first+k))
	}
}

// gather moves items through a second array. Every read is known beforehand, so
// that the machine has many of them under way at a time (op=sort).
func (m *Map[T]) gather(first int, order []sparse.Row) (moves int) {
	m.gathered = slices.Grow(m.gathered[:0], len(order))[:len(order)]
	for k, row := range order {
		m.gathered[k] = m.items[row]
		if int(row) != first+k {
			moves++
		}
	}
	copy(m.items[first:], m.gathered)
	clear(m.gathered) // the collector can free what the items held
	return moves
}

// permute moves items[order[k]-first] to items[k] along the cycles of the
// permutation, so that large items need no second array and move once.
func permute[T any](items []T, first sparse.Row, order []sparse.Row) (moves int) {
	for begin := range items {
		from := int(order[begin] - first)
		if from == begin {
			continue
		}
		item, at := items[begin], begin
		for from != begin {
			items[at] = items[from]
			order[at] = sparse.Row(at) + first
			at, from = from, int(order[from]-first)
			moves++
		}
		items[at] = item
		order[at] = sparse.Row(at) + first
		moves++
	}
	return moves
}

// exchange swaps two rows.
func (m *Map[T]) exchange(a, b sparse.Row) {
	m.items[a], m.items[b] = m.items[b], m.items[a]
	m.meta[a], m.meta[b] = m.meta[b], m.meta[a]
	m.set.SetRow(m.meta[a], a)
	m.set.SetRow(m.meta[b], b)
}
