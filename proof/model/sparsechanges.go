package model

import "slices"

// sparseChanges are the changes of a frame to sparse data. Both lists compare the frame's
// end with its beginning: data that comes and goes within a frame is in none.
type sparseChanges struct {
	before  map[uint64]bool
	created [][]uint64 // by shard: items that got data, not in before
	erased  [][]uint64 // items in before that lost data
	values  [][]Item   // of erased, at the first loss
}

// beginSparse notes the owners at the beginning of a frame.
func (m *Exact) beginSparse() {
	for col := range m.sparse {
		n := len(m.tables[col.Table].shards)
		c := &sparseChanges{make(map[uint64]bool), make([][]uint64, n), make([][]uint64, n), make([][]Item, n)}
		for _, id := range m.Owners(col) {
			c.before[id] = true
		}
		m.sparse[col] = c
	}
}

// Owners returns the items with data, by shard, then by row.
func (m *Exact) Owners(col ColumnID) (all []uint64) {
	for _, s := range m.tables[col.Table].shards {
		all = append(all, s.Owners(col.Column)...)
	}
	return all
}

// shardOf returns the shard of an item of the column's table.
func (m *Exact) shardOf(col ColumnID, id uint64) int {
	return int(typeIDOf(id) - m.tables[col.Table].TypeID)
}

// addOwner lists an item that gets data. It is called before the data exists.
func (m *Exact) addOwner(col ColumnID, id uint64) {
	if c := m.sparse[col]; c != nil && !c.before[id] {
		if all := &c.created[m.shardOf(col, id)]; !slices.Contains(*all, id) {
			*all = append(*all, id)
		}
	}
}

// removeOwner lists an item that loses data, with the value before. It is called while the
// data exists.
func (m *Exact) removeOwner(col ColumnID, id uint64) {
	if c := m.sparse[col]; c != nil && c.before[id] {
		if i := m.shardOf(col, id); !slices.Contains(c.erased[i], id) {
			c.erased[i], c.values[i] = append(c.erased[i], id), append(c.values[i], *m.Element(col, id))
		}
	}
}

// PutSparse sets sparse data at once and reports whether the item lives.
func (m *Exact) PutSparse(col ColumnID, id uint64, v Item) bool {
	if !m.tables[col.Table].has(id) || !m.Lives(id) {
		return false
	}
	if m.sparse[col] != nil {
		m.beginLists()
		m.addOwner(col, id)
		m.wrote(col, []uint64{id}, m.frame)
	}
	m.holder(id).components[col.Column].set(uint32(id), v)
	return true
}

// RemoveSparse removes sparse data at once and reports whether the item had it.
func (m *Exact) RemoveSparse(col ColumnID, id uint64) bool {
	if m.Element(col, id) == nil {
		return false
	}
	if m.sparse[col] != nil {
		m.beginLists()
		m.removeOwner(col, id)
	}
	m.holder(id).components[col.Column].drop(func(n uint32) bool { return n == uint32(id) })
	return true
}

// SparseChanges returns the changes of the listed frame.
func (m *Exact) SparseChanges(col ColumnID) (l Changes) {
	c := m.sparse[col]
	l.Created = slices.DeleteFunc(slices.Concat(c.created...), func(id uint64) bool { return m.Element(col, id) == nil })
	values := slices.Concat(c.values...)
	for i, id := range slices.Concat(c.erased...) {
		// Erased items are in the lists of their table.
		if m.Lives(id) && m.Element(col, id) == nil {
			l.Erased, l.Values = append(l.Erased, id), append(l.Values, values[i])
		}
	}
	return l
}
