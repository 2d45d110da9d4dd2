package store_test

import (
	"cmp"
	"slices"

	"handloom/internal/sparse"
	"handloom/store"
)

// A slow model of a store, written from the design and sharing no code with it:
// tables are Go maps, lists are searched from the front, and every rule is
// spelled out where it applies. See flushmodel_test.go for its flush.

// modelItem is what an item holds; the handles are real or null.
type modelItem struct {
	value uint64
	links [3]store.ID
	far   [2]store.ID // behind a slice, which may hold fewer
}

// modelShard is what design 5 calls a packed map or, if it is stable, design 6 a
// stable one.
type modelShard struct {
	typeID      uint16
	minFree     int
	stable      bool
	live        []store.ID // by row; the empty rows of a stable one left out
	items       map[store.ID]modelItem
	generations []uint16 // by slot: issued, or to be issued next; 0: depleted
	free        []uint32 // vacant slots, oldest first
}

// modelTable is a table of one or more shards.
type modelTable struct {
	options drawnTable
	first   uint16
	shards  []*modelShard
}

// modelStore is a store, and the handles that named an item once.
type modelStore struct {
	tables  []*modelTable
	epoch   uint64
	dead    []store.ID
	changes map[*modelTable]*modelChanges // of the last flush
}

// modelChanges are the change lists of a table.
type modelChanges struct{ created, erased, replaced []modelChange }

type modelChange struct {
	id    store.ID
	value modelItem
}

func newModel(options []drawnTable) *modelStore {
	m := &modelStore{}
	typeID := uint16(1)
	for _, o := range options {
		t := &modelTable{options: o, first: typeID}
		for range o.Shards {
			t.shards = append(t.shards, &modelShard{
				typeID: typeID, minFree: o.MinFree, stable: o.stable, items: map[store.ID]modelItem{},
			})
			typeID++
		}
		m.tables = append(m.tables, t)
	}
	return m
}

// compose makes a handle as design 4 lays it out.
func compose(typeID, generation uint16, slot uint32) store.ID {
	return store.ID(typeID)<<48 | store.ID(generation)<<32 | store.ID(slot)
}

// rows returns how many rows a pass steps through: in a stable shard a row is a
// slot, whatever became of its item.
func (s *modelShard) rows() int {
	if s.stable {
		return len(s.generations)
	}
	return len(s.live)
}

// vacateRow ends the life of the item in a row, which stays in its place.
func (s *modelShard) vacateRow(row int) {
	id := s.live[row]
	delete(s.items, id)
	slot := uint32(id)
	if s.generations[slot] == sparse.LastGeneration() {
		s.generations[slot] = 0
		return
	}
	s.generations[slot]++
	s.free = append(s.free, slot)
}

// fits reports whether n items can be created after freed slots became vacant.
func (s *modelShard) fits(n, freed int) bool {
	return uint64(n) <= uint64(len(s.free)+freed)+uint64(sparse.SlotLimit())-uint64(len(s.generations))
}

// create makes an item in the slot that design 5 says.
func (s *modelShard) create(v modelItem) store.ID {
	full := uint64(len(s.generations)) == uint64(sparse.SlotLimit())
	var slot uint32
	if len(s.free) > s.minFree || full {
		slot, s.free = s.free[0], s.free[1:]
	} else {
		slot = uint32(len(s.generations))
		s.generations = append(s.generations, 1)
	}
	id := compose(s.typeID, s.generations[slot], slot)
	s.live = append(s.live, id)
	if s.stable {
		slices.SortFunc(s.live, func(a, b store.ID) int { return cmp.Compare(uint32(a), uint32(b)) })
	}
	s.items[id] = v
	return id
}

// erase removes a set of items: slots become vacant in the order of the rows
// they had.
func (s *modelShard) erase(set map[store.ID]bool) {
	for row, id := range s.live {
		if set[id] {
			s.vacateRow(row)
		}
	}
	if s.stable {
		s.live = slices.DeleteFunc(s.live, func(id store.ID) bool { return set[id] })
		return
	}
	s.pack(set)
}

// pack closes the gaps that a set of items leaves: the holes below the new
// length, in ascending order, take the survivors at or above it, in ascending
// order.
func (s *modelShard) pack(set map[store.ID]bool) {
	length := len(s.live) - len(set)
	var holes []int
	var movers []store.ID
	for row, id := range s.live {
		switch {
		case set[id] && row < length:
			holes = append(holes, row)
		case !set[id] && row >= length:
			movers = append(movers, id)
		}
	}
	for i, row := range holes {
		s.live[row] = movers[i]
	}
	s.live = s.live[:length]
}

func (s *modelShard) clear() {
	for row := range s.live {
		s.vacateRow(row)
	}
	s.live = nil
}

func (s *modelShard) depleted() int {
	n := 0
	for _, generation := range s.generations {
		if generation == 0 {
			n++
		}
	}
	return n
}

func (t *modelTable) count() int {
	n := 0
	for _, s := range t.shards {
		n += len(s.live)
	}
	return n
}

// shardOf returns the shard that a typeId names, or nil.
func (t *modelTable) shardOf(id store.ID) *modelShard {
	typeID := uint16(id>>48) & 0x7fff
	for _, s := range t.shards {
		if s.typeID == typeID {
			return s
		}
	}
	return nil
}

// holder returns the shard in which the item of a handle lives, or nil.
func (t *modelTable) holder(id store.ID) *modelShard {
	if s := t.shardOf(id); s != nil {
		if _, ok := s.items[id]; ok {
			return s
		}
	}
	return nil
}

// tableOf returns the table that a typeId belongs to, or nil.
func (m *modelStore) tableOf(id store.ID) *modelTable {
	for _, t := range m.tables {
		if t.shardOf(id) != nil {
			return t
		}
	}
	return nil
}

// insert is what Table.Insert does inside a Write: the shard with the fewest
// items takes the new one.
func (t *modelTable) insert(v modelItem) (store.ID, bool) {
	least := t.shards[0]
	for _, s := range t.shards {
		if len(s.live) < len(least.live) {
			least = s
		}
	}
	if t.options.MaxItems > 0 && t.count() >= t.options.MaxItems || !least.fits(1, 0) {
		return 0, false
	}
	return least.create(v), true
}

// deal says how many of n new items each shard of the given sizes takes, by
// the words of design 7: the level is found by trying.
func dealModel(sizes []int, n int) []int {
	below := func(level int) int {
		sum := 0
		for _, size := range sizes {
			sum += max(0, level-size)
		}
		return sum
	}
	level := slices.Min(sizes)
	for below(level+1) <= n {
		level++
	}
	rest := n - below(level)
	take := make([]int, len(sizes))
	for i, size := range sizes {
		take[i] = max(0, level-size)
		if size <= level && rest > 0 {
			take[i]++
			rest--
		}
	}
	return take
}
