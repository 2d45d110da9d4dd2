package model

// ColumnID identifies a column or sparse component by table and number.
type ColumnID struct{ Table, Column int }

// AddColumn adds a column of zero elements, or an empty sparse component, to a
// table. tracked keeps changes of sparse data.
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

// Element returns the element of an item, or nil.
func (m *Exact) Element(col ColumnID, id uint64) *Item {
	if !m.tables[col.Table].has(id) || isProvisional(id) {
		return nil
	}
	return m.holder(id).Element(col.Column, id)
}

// Exchange swaps the elements of two columns of one type.
func (m *Exact) Exchange(table, a, b int) {
	for _, s := range m.tables[table].shards {
		s.components[a], s.components[b] = s.components[b], s.components[a]
	}
}
