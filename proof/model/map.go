package model

import (
	"fmt"
	"slices"
)

// Map models a packed or stable map: the slot and row of each item. It keeps items by slot;
// only a packed map has rows that differ from slots.
type Map[V any] struct {
	Slots
	Stable     bool
	items      []V             // by slot
	rows       []uint32        // slots by row; packed only
	rowOf      []int           // by slot; packed only
	components []*component[V] // by column
}

// NewMap returns an empty map.
func NewMap[V any](r Rules, stable bool) *Map[V] {
	return &Map[V]{Slots: Slots{Rules: r}, Stable: stable}
}

// Clone returns an independent copy with the same counters.
func (m *Map[V]) Clone() *Map[V] {
	c := &Map[V]{
		Slots: m.copied(), Stable: m.Stable,
		items: slices.Clone(m.items), rows: slices.Clone(m.rows), rowOf: slices.Clone(m.rowOf),
	}
	for _, b := range m.components {
		c.components = append(c.components, &component[V]{slices.Clone(b.elements), b.optional, slices.Clone(b.rows)})
	}
	return c
}

// Rows returns the number of rows of a pass. In a stable map, a row is a slot.
func (m *Map[V]) Rows() int {
	if m.Stable {
		return len(m.slots)
	}
	return len(m.rows)
}

// order returns the slots of the items in rows lo to hi-1, by row.
func (m *Map[V]) order(lo, hi int) []uint32 {
	if !m.Stable {
		return m.rows[lo:hi]
	}
	var all []uint32
	for n := lo; n < hi; n++ {
		if m.slots[n].live {
			all = append(all, uint32(n))
		}
	}
	return all
}

// Handles returns the live handles, by row.
func (m *Map[V]) Handles() []uint64 {
	all := make([]uint64, 0, m.live)
	for _, n := range m.order(0, m.Rows()) {
		all = append(all, m.Handle(n))
	}
	return all
}

// RowOf returns the row of a live item.
func (m *Map[V]) RowOf(id uint64) (int, bool) {
	n, ok := m.find(id)
	if !ok || m.Stable {
		return int(n), ok
	}
	return m.rowOf[n], true
}

// Get returns a live item, or nil.
func (m *Map[V]) Get(id uint64) *V {
	if n, ok := m.find(id); ok {
		return &m.items[n]
	}
	return nil
}

// Insert creates an item, which must fit, and returns its handle. Bulk inserts
// use it, too.
func (m *Map[V]) Insert(v V) uint64 {
	n := m.issue()
	// The slot is new; slots are issued without gaps.
	if int(n) == len(m.items) {
		m.items, m.rowOf = append(m.items, v), append(m.rowOf, 0)
		for _, b := range m.components {
			b.elements = append(b.elements, *new(V))
		}
	}
	m.items[n] = v
	if !m.Stable {
		m.rows = append(m.rows, n)
		m.rowOf[n] = len(m.rows) - 1
	}
	return m.Handle(n)
}

// InsertItems returns the expected handles, or nil if the insert must fail.
func (m *Map[V]) InsertItems(items []V) []uint64 {
	if why, full := m.Full(len(items), 0, 0); full {
		m.Seen.See(why)
		return nil
	}
	handles := make([]uint64, 0, len(items))
	for _, item := range items {
		handles = append(handles, m.Insert(item))
	}
	return handles
}

// vacateItem erases an item but keeps its row.
func (m *Map[V]) vacateItem(n uint32) {
	m.items[n] = *new(V)
	for _, b := range m.components {
		b.vacate(n)
	}
	m.vacate(n)
}

// place moves an item to a row (S2).
func (m *Map[V]) place(row int, n uint32) {
	m.rows[row] = n
	m.rowOf[n] = row
}

// Erase erases an item and reports whether it existed. The last row takes its
// place.
func (m *Map[V]) Erase(id uint64) bool {
	n, ok := m.find(id)
	if !ok {
		return false
	}
	if !m.Stable {
		end := len(m.rows) - 1
		// If the item is in the last row, this changes nothing.
		m.place(m.rowOf[n], m.rows[end])
		m.rows = m.rows[:end]
	}
	m.vacateItem(n)
	return true
}

// Gaps are filled as in packed. Slots are freed in the order of their rows.
func (m *Map[V]) eraseSet(set map[uint32]bool) {
	if len(set) == 0 {
		return
	}
	// pack reuses the array of rows.
	before := slices.Clone(m.order(0, m.Rows()))
	if !m.Stable {
		m.pack(set)
	}
	for _, n := range before {
		if set[n] {
			m.vacateItem(n)
		}
	}
}

// pack removes the rows of a set of slots.
func (m *Map[V]) pack(set map[uint32]bool) {
	m.rows = packed(m.rows, func(n uint32) bool { return set[n] })
	for row, n := range m.rows {
		m.rowOf[n] = row
	}
}

// Clear erases all items, and frees their slots in the order of rows.
func (m *Map[V]) Clear() {
	for _, n := range m.order(0, m.Rows()) {
		m.vacateItem(n)
	}
	m.rows = m.rows[:0]
}

// Sort sorts the rows of a packed map, stably.
func (m *Map[V]) Sort(compare func(a, b V) int) {
	slices.SortStableFunc(m.rows, func(a, b uint32) int { return compare(m.items[a], m.items[b]) })
	for row, n := range m.rows {
		m.rowOf[n] = row
	}
}

// Follow adopts the rows that a defragmentation left. They may have any order
// with the same items, but are sorted if done.
func (m *Map[V]) Follow(rows []uint64, done bool, compare func(a, b V) int) error {
	if len(rows) != len(m.rows) {
		return fmt.Errorf("rows after Defragment: it left %d rows of %d", len(rows), len(m.rows))
	}
	seen := make(map[uint32]bool)
	for row, id := range rows {
		n, ok := m.find(id)
		// With equal lengths, distinct live handles are all items.
		if !ok || seen[n] {
			return fmt.Errorf("rows after Defragment: it left %s in row %d, which lives %v and came before %v", Text(id), row, ok, seen[n])
		}
		seen[n] = true
		m.place(row, n)
	}
	for row := 1; done && row < len(m.rows); row++ {
		if a, b := m.items[m.rows[row-1]], m.items[m.rows[row]]; compare(a, b) > 0 {
			return fmt.Errorf("rows after Defragment: it is done, but row %d has %v after %v", row, b, a)
		}
	}
	return nil
}
