package model

import (
	"cmp"
	"fmt"
	"slices"
)

// What follows happens at once, inside a write.

// Insert returns the handle that an insert into a table must give, or false if
// it must fail: the shard with the fewest items takes it.
func (m *Exact) Insert(table int, item Item) (uint64, bool) {
	t := m.tables[table]
	least, items := 0, 0
	for i, s := range t.shards {
		items += s.live
		if s.live < t.shards[least].live {
			least = i
		}
	}
	if t.Max > 0 && items >= t.Max {
		m.seen.See(ItemLimit)
		return 0, false
	}
	handles := m.InsertItems(table, least, []Item{item})
	if handles == nil {
		return 0, false
	}
	return handles[0], true
}

// InsertItems returns the handles that inserting items into a shard must give,
// or nil if it must fail.
func (m *Exact) InsertItems(table, shard int, items []Item) []uint64 {
	s := m.tables[table].shards[shard]
	if why, full := s.full(len(items), 0, 0); full {
		m.seen.See(why)
		return nil
	}
	handles := make([]uint64, 0, len(items))
	for _, item := range items {
		handles = append(handles, s.issue(item))
	}
	return handles
}

// Erase erases one item of a table and reports whether there was one.
func (m *Exact) Erase(table int, id uint64) bool {
	s, n, ok := m.find(id)
	if ok = ok && m.tables[table].has(id); ok {
		s.erase(n)
	}
	return ok
}

// EraseItems erases a set of items of a shard and returns how many there were.
func (m *Exact) EraseItems(table, shard int, ids []uint64) int {
	s := m.tables[table].shards[shard]
	set := make(map[uint32]bool)
	for _, id := range ids {
		if n, ok := s.find(id); ok {
			set[n] = true
		}
	}
	s.eraseSet(set)
	return len(set)
}

// EraseWhere erases the items of a shard for which f is true.
func (m *Exact) EraseWhere(table, shard int, f func(Item) bool) int {
	s := m.tables[table].shards[shard]
	set := make(map[uint32]bool)
	for _, n := range s.order(0, s.rowCount()) {
		if f(s.slots[n].item) {
			set[n] = true
		}
	}
	s.eraseSet(set)
	return len(set)
}

// EraseBackward erases the items for which f is true one by one, from the last
// row to the first.
func (m *Exact) EraseBackward(table, shard int, f func(Item) bool) {
	s := m.tables[table].shards[shard]
	order := slices.Clone(s.order(0, s.rowCount()))
	for _, n := range slices.Backward(order) {
		if f(s.slots[n].item) {
			s.erase(n)
		}
	}
}

// Clear erases every item of a table, or of one shard if that is not negative.
func (m *Exact) Clear(table, shard int) {
	for i, s := range m.tables[table].shards {
		if shard < 0 || i == shard {
			s.clear()
		}
	}
}

// Reset drops every item of a shard and, early on, every slot.
func (m *Exact) Reset(table, shard int) { m.tables[table].shards[shard].reset() }

// Rows returns the handles of a shard, by row.
func (m *Exact) Rows(table, shard int) []uint64 {
	s := m.tables[table].shards[shard]
	var all []uint64
	for _, n := range s.order(0, s.rowCount()) {
		all = append(all, s.handle(n))
	}
	return all
}

// Sort orders the rows i to j-1 of a shard stably.
func (m *Exact) Sort(table, shard, i, j int, compare func(a, b Item) int) {
	s := m.tables[table].shards[shard]
	slices.SortStableFunc(s.rows[i:j], func(a, b uint32) int {
		return compare(s.slots[a].item, s.slots[b].item)
	})
	s.renumber()
}

// renumber tells the slots their rows.
func (s *shard) renumber() {
	for row, n := range s.rows {
		s.slots[n].row = row
	}
}

// SortAs moves the items that ids name to the first rows, in that order.
func (m *Exact) SortAs(table, shard int, ids []uint64) {
	s := m.tables[table].shards[shard]
	rank := make(map[uint32]int)
	for _, id := range ids {
		n, ok := s.find(id)
		if _, again := rank[n]; ok && !again {
			rank[n] = len(rank) - len(ids)
		}
	}
	slices.SortStableFunc(s.rows, func(a, b uint32) int { return cmp.Compare(rank[a], rank[b]) })
	s.renumber()
}

// Partition moves the items for which f is true to the front, and returns how
// many there are.
func (m *Exact) Partition(table, shard int, f func(Item) bool) int {
	s := m.tables[table].shards[shard]
	front := 0
	rank := func(n uint32) int {
		if f(s.slots[n].item) {
			return 0
		}
		return 1
	}
	for _, n := range s.rows {
		front += 1 - rank(n)
	}
	slices.SortStableFunc(s.rows, func(a, b uint32) int { return cmp.Compare(rank(a), rank(b)) })
	s.renumber()
	return front
}

// Swap exchanges the rows of two items of a shard, if both live.
func (m *Exact) Swap(table, shard int, a, b uint64) bool {
	s := m.tables[table].shards[shard]
	x, okX := s.find(a)
	y, okY := s.find(b)
	if !okX || !okY {
		return false
	}
	i, j := s.slots[x].row, s.slots[y].row
	s.place(i, y)
	s.place(j, x)
	return true
}

// Defragmented takes over the rows that a defragmentation left, which documents
// leave open but for this: they hold the same items, in order if done.
func (m *Exact) Defragmented(table, shard int, rows []uint64, done bool, compare func(a, b Item) int) error {
	s := m.tables[table].shards[shard]
	if len(rows) != len(s.rows) {
		return fmt.Errorf("the call of Defragment left %d rows of %d", len(rows), len(s.rows))
	}
	seen := make(map[uint32]bool)
	for row, id := range rows {
		n, ok := s.find(id)
		if !ok || seen[n] {
			return fmt.Errorf("the call of Defragment left %s in row %d, which lives %v and came before %v", Text(id), row, ok, seen[n])
		}
		seen[n] = true
		s.place(row, n)
	}
	for row := 1; done && row < len(s.rows); row++ {
		if a, b := s.slots[s.rows[row-1]].item, s.slots[s.rows[row]].item; compare(a, b) > 0 {
			return fmt.Errorf("the call of Defragment is done, and row %d has key %d behind key %d", row, b.Key, a.Key)
		}
	}
	return nil
}

// Item returns the item that a handle names.
func (m *Exact) Item(id uint64) (Item, bool) {
	s, n, ok := m.find(id)
	if !ok {
		return Item{}, false
	}
	return s.slots[n].item, true
}

// Set replaces an item in place.
func (m *Exact) Set(id uint64, item Item) {
	s, n, _ := m.find(id)
	s.slots[n].item = item
}

// Change changes the items of a table in place.
func (m *Exact) Change(table int, f func(*Item)) {
	for _, s := range m.tables[table].shards {
		for _, n := range s.order(0, s.rowCount()) {
			f(&s.slots[n].item)
		}
	}
}

// CloneShard returns a model of one shard alone, which evolves by itself.
func (m *Exact) CloneShard(t, i int) *Exact {
	of := m.tables[t].Table
	s := m.tables[t].shards[i].clone()
	of.TypeID, of.Shards = s.typeID, 1
	c := NewExact([]Table{of}, Widths{LastGeneration: m.last, Slots: m.slots}, new(Counters))
	s.limits = &c.limits
	c.tables[0].shards[0] = s
	return c
}
