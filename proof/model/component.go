package model

import "slices"

// component holds the elements of a column or of sparse data. Sparse data has
// its own rows.
type component[V any] struct {
	elements []V // by slot; zero without an item or element
	optional bool
	rows     []uint32 // slots with an element, by row; of sparse data
}

func (m *Map[V]) AddColumn(optional bool) {
	m.components = append(m.components, &component[V]{make([]V, len(m.items)), optional, nil})
}

func (m *Map[V]) Element(column int, id uint64) *V {
	if n, ok := m.find(id); ok && m.components[column].has(n) {
		return &m.components[column].elements[n]
	}
	return nil
}

func (b *component[V]) has(n uint32) bool { return !b.optional || slices.Contains(b.rows, n) }

func (b *component[V]) set(n uint32, v V) {
	if !b.has(n) {
		b.rows = append(b.rows, n)
	}
	b.elements[n] = v
}

func (b *component[V]) vacate(n uint32) {
	b.elements[n] = *new(V)
	b.rows = slices.DeleteFunc(b.rows, func(row uint32) bool { return row == n })
}

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

func (m *Map[V]) dropOne(id uint64) {
	if slot, ok := m.find(id); ok {
		for _, b := range m.components {
			b.drop(func(n uint32) bool { return n == slot })
		}
	}
}

func (m *Map[V]) SortSparse(column int) {
	row := func(slot uint32) int {
		row, _ := m.RowOf(m.Handle(slot))
		return row
	}
	slices.SortFunc(m.components[column].rows, func(a, b uint32) int { return row(a) - row(b) })
}

func (m *Map[V]) Owners(column int) (all []uint64) {
	for _, n := range m.components[column].rows {
		all = append(all, m.Handle(n))
	}
	return all
}
