package maptest

import (
	"slices"

	"handloom/shard/handle"
)

// exactModel predicts every handle, the order of items and the figures of a map.
// It is written to be obviously right: slices of plain numbers, and nothing
// shared with the code it checks. In the packed map the place of an item in items
// is its row; in the stable one the row is the slot, and items are in their order.
type exactModel struct {
	packed   bool
	typeID   uint16
	last     int // generation
	limit    uint64
	minFree  int
	maxItems int

	slots    []exactSlot
	vacant   []int // slots, oldest first
	depleted int
	items    []exactItem // in the order of All
	highest  int         // generation issued
	floor    int
}

type exactSlot struct {
	generation int // of the item, or of the one to come
}

type exactItem struct {
	slot  int
	value uint64
}

func (e *exactModel) id(slot int) handle.ID {
	return handle.ID(e.typeID)<<48 | handle.ID(e.slots[slot].generation)<<32 | handle.ID(slot)
}

func (e *exactModel) idAt(place int) handle.ID { return e.id(e.items[place].slot) }

// row returns the row of the item at a place.
func (e *exactModel) row(place int) int {
	if e.packed {
		return place
	}
	return e.items[place].slot
}

// rows returns the handle of each row, null for those without an item.
func (e *exactModel) rows() []handle.ID {
	n := len(e.slots)
	if e.packed {
		n = len(e.items)
	}
	ids := make([]handle.ID, n)
	for place := range e.items {
		ids[e.row(place)] = e.idAt(place)
	}
	return ids
}

func (e *exactModel) fits(n int) bool {
	if e.maxItems > 0 && len(e.items)+n > e.maxItems {
		return false
	}
	return uint64(len(e.items)+e.depleted+n) <= e.limit
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
	e.items = append(e.items, exactItem{slot, value})
	if !e.packed {
		slices.SortFunc(e.items, func(a, b exactItem) int { return a.slot - b.slot })
	}
	return e.id(slot)
}

// erase removes the items at the places given, in any order: first all slots are
// freed in ascending order of places; in the packed map holes then take
// survivors, lowest first.
func (e *exactModel) erase(places ...int) {
	slices.Sort(places)
	for _, place := range places {
		e.free(e.items[place].slot)
	}
	if !e.packed {
		for _, place := range slices.Backward(places) {
			e.items = slices.Delete(e.items, place, place+1)
		}
		return
	}
	n := len(e.items) - len(places)
	var survivors []exactItem
	for place := n; place < len(e.items); place++ {
		if !slices.Contains(places, place) {
			survivors = append(survivors, e.items[place])
		}
	}
	for _, place := range places {
		if place < n {
			e.items[place], survivors = survivors[0], survivors[1:]
		}
	}
	e.items = e.items[:n]
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
	for _, item := range e.items {
		e.free(item.slot)
	}
	e.items = nil
}

func (e *exactModel) reset() {
	if e.highest >= (e.last+1)/2 && e.highest > 0 {
		e.clear()
		return
	}
	e.slots, e.vacant, e.items, e.floor = nil, nil, nil, e.highest
}

// find searches, so that it depends on nothing but handles.
func (e *exactModel) find(id handle.ID) (place int, ok bool) {
	place = slices.IndexFunc(e.items, func(i exactItem) bool { return e.id(i.slot) == id })
	return place, place >= 0
}

// sort orders the rows i to j-1 by a comparison of their values.
func (e *exactModel) sort(i, j int, compare func(a, b uint64) int) {
	slices.SortStableFunc(e.items[i:j], func(a, b exactItem) int { return compare(a.value, b.value) })
}

// sortAs moves the rows given to the front, each once.
func (e *exactModel) sortAs(rows []int) {
	var front, back []exactItem
	for _, row := range rows {
		front = append(front, e.items[row])
	}
	for row, item := range e.items {
		if !slices.Contains(rows, row) {
			back = append(back, item)
		}
	}
	e.items = append(front, back...)
}

// follow takes over an order of which the model knows no more than that it has
// every item once, and reports whether that is so.
func (e *exactModel) follow(ids []handle.ID) bool {
	if len(ids) != len(e.items) {
		return false
	}
	items := make([]exactItem, 0, len(ids))
	for _, id := range ids {
		row, ok := e.find(id)
		if !ok || slices.Contains(items, e.items[row]) {
			return false
		}
		items = append(items, e.items[row])
	}
	e.items = items
	return true
}
