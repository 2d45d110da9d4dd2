package model

import "slices"

// sparseChanges are what a frame did to optional data that keeps changes.
type sparseChanges struct {
	before  map[uint64]bool // items that had some when the frame began
	created [][]uint64      // by shard: others that got some
	erased  [][]uint64      // those of before that lost it
	values  [][]Item        // of erased, when they lost it first
}

// beginSparse begins the lists of all optional data that keeps changes.
func (m *Exact) beginSparse() {
	for of := range m.sparse {
		n := len(m.tables[of.Table].shards)
		c := &sparseChanges{make(map[uint64]bool), make([][]uint64, n), make([][]uint64, n), make([][]Item, n)}
		for _, id := range m.Owners(of) {
			c.before[id] = true
		}
		m.sparse[of] = c
	}
}

// Owners returns the handles of the items that have optional data, by shard and row.
func (m *Exact) Owners(of ColumnOf) (all []uint64) {
	for _, s := range m.tables[of.Table].shards {
		all = append(all, s.HandlesBeside(of.Column)...)
	}
	return all
}

func (m *Exact) shardOf(of ColumnOf, id uint64) int {
	return int(typeIDOf(id) - m.tables[of.Table].TypeID)
}

// gives notes that an item gets optional data, which it may have.
func (m *Exact) gives(of ColumnOf, id uint64) {
	if c := m.sparse[of]; c != nil && !c.before[id] {
		if all := &c.created[m.shardOf(of, id)]; !slices.Contains(*all, id) {
			*all = append(*all, id)
		}
	}
}

// takes notes that an item loses the optional data that it has.
func (m *Exact) takes(of ColumnOf, id uint64) {
	if c := m.sparse[of]; c != nil && c.before[id] {
		if i := m.shardOf(of, id); !slices.Contains(c.erased[i], id) {
			c.erased[i], c.values[i] = append(c.erased[i], id), append(c.values[i], *m.Element(of, id))
		}
	}
}

// PutSparse gives an item optional data at once, and reports whether there is the item.
func (m *Exact) PutSparse(of ColumnOf, id uint64, v Item) bool {
	if !m.tables[of.Table].has(id) || !m.Lives(id) {
		return false
	}
	if m.sparse[of] != nil {
		m.beginLists()
		m.gives(of, id)
		m.wrote(of, []uint64{id}, m.frame)
	}
	m.holder(id).beside[of.Column].set(uint32(id), v)
	return true
}

// RemoveSparse takes optional data at once, and reports whether the item had any.
func (m *Exact) RemoveSparse(of ColumnOf, id uint64) bool {
	if m.Element(of, id) == nil {
		return false
	}
	if m.sparse[of] != nil {
		m.beginLists()
		m.takes(of, id)
	}
	m.holder(id).beside[of.Column].drop(func(n uint32) bool { return n == uint32(id) })
	return true
}

// SparseChanges returns what the lists of optional data must have.
func (m *Exact) SparseChanges(of ColumnOf) (l Changes) {
	c := m.sparse[of]
	l.Created = slices.DeleteFunc(slices.Concat(c.created...), func(id uint64) bool { return m.Element(of, id) == nil })
	values := slices.Concat(c.values...)
	for i, id := range slices.Concat(c.erased...) {
		if m.Lives(id) && m.Element(of, id) == nil {
			l.Erased, l.Values = append(l.Erased, id), append(l.Values, values[i])
		}
	}
	return l
}
