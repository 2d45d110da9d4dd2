package model

// The following methods take effect at once, inside a Frame.

// Insert returns the expected handle of an insert, or false if it must fail.
// The shard with the fewest items takes the item.
func (m *Exact) Insert(table int, item Item) (uint64, bool) {
	t := m.tables[table]
	least := 0
	for i, s := range t.shards {
		// On a tie the first shard takes the item.
		if s.live < t.shards[least].live {
			least = i
		}
	}
	if t.Max > 0 && t.live() >= t.Max {
		m.seen.See(ItemLimit)
		return 0, false
	}
	handles := t.shards[least].InsertItems([]Item{item})
	if handles == nil {
		return 0, false
	}
	if c := m.changesAtOnce(table); c != nil {
		c.created = append(c.created, handles[0])
	}
	return handles[0], true
}

// Remove lists an item and drops its sparse data before it erases it.
func (m *Exact) Remove(table int, id uint64) bool {
	t := m.tables[table]
	if !t.has(id) || !m.Lives(id) {
		return false
	}
	if c := m.changesAtOnce(table); c != nil {
		c.erase(int(typeIDOf(id)-t.TypeID), id, *m.Item(id))
	}
	// The row of sparse data must be found by the item, so it goes first.
	m.holder(id).dropOne(id)
	return m.holder(id).Erase(id)
}

// Clear erases all items of a table, by shard, then by row.
func (m *Exact) Clear(table int) {
	c := (*frameChanges)(nil)
	// An empty table does not begin the lists of the frame.
	if m.tables[table].live() > 0 {
		c = m.changesAtOnce(table)
	}
	for i, s := range m.tables[table].shards {
		for _, id := range s.Handles() {
			if c != nil {
				c.erase(i, id, *m.Item(id))
			}
		}
		s.Clear()
	}
}

// SortOptional orders the rows of sparse data by the rows of their items.
func (m *Exact) SortOptional(col ColumnID) {
	for _, s := range m.tables[col.Table].shards {
		s.SortSparse(col.Column)
	}
}

// Rows returns the handles of a table by shard, then by row.
func (m *Exact) Rows(table int) []uint64 {
	var all []uint64
	for _, s := range m.tables[table].shards {
		all = append(all, s.Handles()...)
	}
	return all
}

// Change changes all items in place.
func (m *Exact) Change(table int, f func(*Item)) {
	for _, s := range m.tables[table].shards {
		for _, n := range s.order(0, s.Rows()) {
			f(&s.items[n])
		}
	}
}
