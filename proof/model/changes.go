package model

import "slices"

// Changes is what the flushes of a frame came to in one table.
type Changes struct {
	Created  []uint64 // flush by flush, in the order of recording
	Replaced []uint64 // by typeId, and then flush by flush and by row before
	Erased   []uint64 // likewise
	Values   []Item   // of Erased, before
}

// frameChanges are the changes of a table as they come about.
type frameChanges struct {
	created  []uint64
	replaced [][]uint64 // by shard
	erased   [][]uint64
	values   [][]Item
	known    map[uint64]bool // that are created or replaced
}

// BeginFrame begins a frame that is not the beginning of a Write: see BeginWrite.
func (m *Exact) BeginFrame() { m.frame++ }

// BeginWrite begins the frame of a Write, to which everything belongs that passes
// wrote before it.
func (m *Exact) BeginWrite() {
	m.BeginFrame()
	m.adopt()
}

func (m *Exact) changesOf(table int) *frameChanges {
	if m.changes[table] == nil {
		n := len(m.tables[table].shards)
		m.changes[table] = &frameChanges{nil, make([][]uint64, n), make([][]uint64, n), make([][]Item, n), make(map[uint64]bool)}
	}
	return m.changes[table]
}

func (c *frameChanges) create(id uint64) {
	c.created = append(c.created, id)
	c.known[id] = true
}

// replace notes a put, once, and none to what the frame created.
func (c *frameChanges) replace(shard int, id uint64) {
	if !c.known[id] {
		c.replaced[shard] = append(c.replaced[shard], id)
		c.known[id] = true
	}
}

// erase notes an erase, unless the frame created the item.
func (c *frameChanges) erase(shard int, id uint64, item Item) {
	if !slices.Contains(c.created, id) {
		c.erased[shard], c.values[shard] = append(c.erased[shard], id), append(c.values[shard], item)
	}
}

// Changes returns what the last frame that flushed something, or the one that runs,
// did to a table. What it erased since, in whatever way, it neither created nor
// replaced.
func (m *Exact) Changes(table int) Changes {
	c := m.changes[table]
	if c == nil {
		return Changes{}
	}
	ended := func(id uint64) bool { return !m.Lives(id) }
	return Changes{
		Created:  slices.DeleteFunc(slices.Clone(c.created), ended),
		Replaced: slices.DeleteFunc(slices.Concat(c.replaced...), ended),
		Erased:   slices.Concat(c.erased...), Values: slices.Concat(c.values...),
	}
}
