package handlemap_test

import (
	"slices"

	"handloom/shard/handle"
)

// exactModel predicts every handle, the dense order and the figures of a map.
// It is written to be obviously right: slices of plain numbers, and nothing
// shared with the code it checks.
type exactModel struct {
	typeID   uint16
	last     int // generation
	limit    uint64
	minFree  int
	maxItems int

	slots    []exactSlot
	vacant   []int // slots, oldest first
	depleted int
	rows     []exactRow
	highest  int // generation issued
	floor    int
}

type exactSlot struct {
	generation int // of the item, or of the one to come
}

type exactRow struct {
	slot  int
	value uint64
}

func (e *exactModel) id(slot int) handle.ID {
	return handle.ID(e.typeID)<<48 | handle.ID(e.slots[slot].generation)<<32 | handle.ID(slot)
}

func (e *exactModel) idAt(row int) handle.ID { return e.id(e.rows[row].slot) }

func (e *exactModel) fits(n int) bool {
	if e.maxItems > 0 && len(e.rows)+n > e.maxItems {
		return false
	}
	return uint64(len(e.rows)+e.depleted+n) <= e.limit
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
	e.highest = max(e.highest, e.slots[slot].generation)
	e.rows = append(e.rows, exactRow{slot, value})
	return e.id(slot)
}

// erase removes the rows given, in any order: first all slots are freed in
// ascending order of rows, then holes take survivors, lowest first.
func (e *exactModel) erase(rows ...int) {
	slices.Sort(rows)
	for _, row := range rows {
		e.free(e.rows[row].slot)
	}
	n := len(e.rows) - len(rows)
	var survivors []exactRow
	for row := n; row < len(e.rows); row++ {
		if !slices.Contains(rows, row) {
			survivors = append(survivors, e.rows[row])
		}
	}
	for _, row := range rows {
		if row < n {
			e.rows[row], survivors = survivors[0], survivors[1:]
		}
	}
	e.rows = e.rows[:n]
}

func (e *exactModel) free(slot int) {
	if e.slots[slot].generation == e.last {
		e.slots[slot].generation = 0
		e.depleted++
		return
	}
	e.slots[slot].generation++
	e.vacant = append(e.vacant, slot)
}

func (e *exactModel) clear() {
	for _, row := range e.rows {
		e.free(row.slot)
	}
	e.rows = nil
}

func (e *exactModel) reset() {
	if e.highest >= (e.last+1)/2 && e.highest > 0 {
		e.clear()
		return
	}
	e.slots, e.vacant, e.rows, e.floor = nil, nil, nil, e.highest
}

// rowOf searches, so that it depends on nothing but handles.
func (e *exactModel) rowOf(id handle.ID) (row int, ok bool) {
	row = slices.IndexFunc(e.rows, func(r exactRow) bool { return e.id(r.slot) == id })
	return row, row >= 0
}

// sort orders the rows i to j-1 by a comparison of their values.
func (e *exactModel) sort(i, j int, compare func(a, b uint64) int) {
	slices.SortStableFunc(e.rows[i:j], func(a, b exactRow) int { return compare(a.value, b.value) })
}

// sortAs moves the rows given to the front, each once.
func (e *exactModel) sortAs(rows []int) {
	var front, back []exactRow
	for _, row := range rows {
		front = append(front, e.rows[row])
	}
	for row, r := range e.rows {
		if !slices.Contains(rows, row) {
			back = append(back, r)
		}
	}
	e.rows = append(front, back...)
}

// follow takes over an order of which the model knows no more than that it has
// every row once, and reports whether that is so.
func (e *exactModel) follow(ids []handle.ID) bool {
	if len(ids) != len(e.rows) {
		return false
	}
	rows := make([]exactRow, 0, len(ids))
	for _, id := range ids {
		row, ok := e.rowOf(id)
		if !ok || slices.Contains(rows, e.rows[row]) {
			return false
		}
		rows = append(rows, e.rows[row])
	}
	e.rows = rows
	return true
}
