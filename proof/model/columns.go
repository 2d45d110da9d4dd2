package model

// ColumnID names a column, or optional data: that of a table with a number.
type ColumnID struct{ Table, Column int }

// AddColumn adds a column to every map of a table, whose elements are zero, or optional
// data, which no item has and which may keep changes.
func (m *Exact) AddColumn(table int, optional, tracked bool) {
	if optional && tracked {
		col := ColumnID{table, len(m.tables[table].shards[0].components)}
		n := len(m.tables[table].shards)
		m.sparse[col] = &sparseChanges{make(map[uint64]bool), make([][]uint64, n), make([][]uint64, n), make([][]Item, n)}
	}
	for _, s := range m.tables[table].shards {
		s.AddColumn(optional)
	}
}

// Element returns the element of the item that a handle of the table names, or nil if there
// is no such item or that lacks it.
func (m *Exact) Element(col ColumnID, id uint64) *Item {
	if !m.tables[col.Table].has(id) || isProvisional(id) {
		return nil
	}
	return m.holder(id).Element(col.Column, id)
}

// Exchange lets two columns of a table have each other's elements.
func (m *Exact) Exchange(table, a, b int) {
	for _, s := range m.tables[table].shards {
		s.components[a], s.components[b] = s.components[b], s.components[a]
	}
}
