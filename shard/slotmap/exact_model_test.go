package slotmap_test

import (
	"slices"

	"handloom/shard/handle"
)

// exactModel predicts every handle, the order of items and the figures of a
// map. It is written to be obviously right: slices of plain numbers, and nothing
// shared with the code it checks.
type exactModel struct {
	typeID   uint16
	last     int // generation
	limit    uint64
	minFree  int
	maxItems int

	slots    []exactSlot // which are the rows
	vacant   []int       // slots, oldest first
	depleted int
	highest  int // generation issued
	floor    int
}

type exactSlot struct {
	generation int // of the item, or of the one to come
	live       bool
	value      uint64
}

func (e *exactModel) id(slot int) handle.ID {
	return handle.ID(e.typeID)<<48 | handle.ID(e.slots[slot].generation)<<32 | handle.ID(slot)
}

// rows returns the rows that have an item.
func (e *exactModel) rows() (rows []int) {
	for row, s := range e.slots {
		if s.live {
			rows = append(rows, row)
		}
	}
	return rows
}

func (e *exactModel) fits(n int) bool {
	live := len(e.rows())
	if e.maxItems > 0 && live+n > e.maxItems {
		return false
	}
	return uint64(live+e.depleted+n) <= e.limit
}

// insert is called for one item at a time; bulk inserts are no different.
func (e *exactModel) insert(value uint64) handle.ID {
	var slot int
	if len(e.vacant) > e.minFree || uint64(len(e.slots)) == e.limit {
		slot = e.vacant[0]
		e.vacant = slices.Delete(e.vacant, 0, 1)
	} else {
		slot = len(e.slots)
		e.slots = append(e.slots, exactSlot{generation: e.floor + 1})
	}
	s := &e.slots[slot]
	s.live, s.value = true, value
	e.highest = max(e.highest, s.generation)
	return e.id(slot)
}

// erase removes the items of the rows given, in any order: the slots are freed
// in ascending order.
func (e *exactModel) erase(rows ...int) {
	slices.Sort(rows)
	for _, slot := range rows {
		s := &e.slots[slot]
		s.live, s.value = false, 0
		if s.generation == e.last {
			s.generation = 0
			e.depleted++
			continue
		}
		s.generation++
		e.vacant = append(e.vacant, slot)
	}
}

func (e *exactModel) clear() { e.erase(e.rows()...) }

func (e *exactModel) reset() {
	if e.highest >= (e.last+1)/2 && e.highest > 0 {
		e.clear()
		return
	}
	e.slots, e.vacant, e.floor = nil, nil, e.highest
}

// rowOf searches, so that it depends on nothing but handles.
func (e *exactModel) rowOf(id handle.ID) (row int, ok bool) {
	for _, row := range e.rows() {
		if e.id(row) == id {
			return row, true
		}
	}
	return 0, false
}
