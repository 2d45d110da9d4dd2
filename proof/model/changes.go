package model

import "slices"

// Changes are the items of one table that a frame created and erased.
type Changes struct {
	Created []uint64 // by flush, in order of recording; inserts between flushes
	Erased  []uint64 // by typeId, then in order of erasure
	Values  []Item   // of Erased, before
}

// frameChanges are the changes of a frame, with erases by shard.
type frameChanges struct {
	created []uint64
	erased  [][]uint64
	values  [][]Item
}

// BeginFrame begins a frame. Its lists begin with its first change or flush.
func (m *Exact) BeginFrame() { m.frame++ }

// BeginWrite begins a Frame. It includes writes noted by passes
// since the last frame.
func (m *Exact) BeginWrite() {
	m.BeginFrame()
	m.adopt()
}

// beginLists empties the lists when a frame has its first entry.
func (m *Exact) beginLists() {
	if m.listed != m.frame {
		m.listed, m.changes = m.frame, make(map[int]*frameChanges)
		m.beginSparse()
	}
}

// changesOf returns the changes of a table in the listed frame.
func (m *Exact) changesOf(table int) *frameChanges {
	if m.changes[table] == nil {
		n := len(m.tables[table].shards)
		m.changes[table] = &frameChanges{nil, make([][]uint64, n), make([][]Item, n)}
	}
	return m.changes[table]
}

// changesAtOnce returns the changes for a change at once, or nil if the table lists none.
func (m *Exact) changesAtOnce(table int) *frameChanges {
	if !m.tables[table].Changes {
		return nil
	}
	m.beginLists()
	return m.changesOf(table)
}

// erase records an erase, unless the frame created the item.
func (c *frameChanges) erase(shard int, id uint64, item Item) {
	if !slices.Contains(c.created, id) {
		c.erased[shard], c.values[shard] = append(c.erased[shard], id), append(c.values[shard], item)
	}
}

// Changes returns the changes of the listed frame, without items that the frame
// both created and erased.
func (m *Exact) Changes(table int) Changes {
	c := m.changes[table]
	if c == nil {
		return Changes{}
	}
	return Changes{
		Created: slices.DeleteFunc(slices.Clone(c.created), func(id uint64) bool { return !m.Lives(id) }),
		Erased:  slices.Concat(c.erased...), Values: slices.Concat(c.values...),
	}
}
