package model

import "slices"

// component holds the elements of a column or of sparse data. Sparse data has
// its own rows.
type component[V any] struct {
	elements []V // by slot; zero without an item or element
	optional bool
	rows     []uint32 // slots with an element, by row; of sparse data
}

// AddColumn adds a component to a map that may have items.
func (m *Map[V]) AddColumn(optional bool) {
	m.components = append(m.components, &component[V]{make([]V, len(m.items)), optional, nil})
}

// Element returns the element of a live item, or nil.
func (m *Map[V]) Element(column int, id uint64) *V {
	if n, ok := m.find(id); ok && m.components[column].has(n) {
		return &m.components[column].elements[n]
	}
	return nil
}

// has reports whether a slot has an element. Each slot of a column has one.
func (b *component[V]) has(n uint32) bool { return !b.optional || slices.Contains(b.rows, n) }

// set writes the element of a slot. A first value of sparse data takes the next row.
func (b *component[V]) set(n uint32, v V) {
	if !b.has(n) {
		b.rows = append(b.rows, n)
	}
	b.elements[n] = v
}

// vacate zeroes the element of an erased item, so that the next item of the slot begins
// with zero.
func (b *component[V]) vacate(n uint32) {
	b.elements[n] = *new(V)
	b.rows = slices.DeleteFunc(b.rows, func(row uint32) bool { return row == n })
}

// drop removes the elements of some slots.
func (b *component[V]) drop(gone func(n uint32) bool) {
	for _, n := range b.rows {
		if gone(n) {
			b.elements[n] = *new(V)
		}
	}
	b.rows = packed(b.rows, gone)
}

// packed removes some rows. Gaps below the new length take the remaining rows
// at or above it, both ascending.
func packed(rows []uint32, gone func(n uint32) bool) []uint32 {
	// First for its length alone: the number of rows that remain.
	stay := slices.DeleteFunc(slices.Clone(rows), gone)
	left := len(stay)
	stay = slices.DeleteFunc(slices.Clone(rows[left:]), gone)
	for row, n := range rows[:left] {
		if gone(n) {
			rows[row] = stay[0]
			stay = stay[1:]
		}
	}
	return rows[:left]
}

// dropOne removes the sparse data of an item.
func (m *Map[V]) dropOne(id uint64) {
	if slot, ok := m.find(id); ok {
		for _, b := range m.components {
			b.drop(func(n uint32) bool { return n == slot })
		}
	}
}

// SortSparse orders rows of sparse data by the rows of their items.
func (m *Map[V]) SortSparse(column int) {
	row := func(slot uint32) int {
		row, _ := m.RowOf(m.Handle(slot))
		return row
	}
	slices.SortFunc(m.components[column].rows, func(a, b uint32) int { return row(a) - row(b) })
}

// Owners returns the items with sparse data, by row.
func (m *Map[V]) Owners(column int) (all []uint64) {
	for _, n := range m.components[column].rows {
		all = append(all, m.Handle(n))
	}
	return all
}
