package slotmap

import (
	"fmt"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// StaleError is what [Map.At] panics with: a handle that names no item, and
// what its slot holds instead.
type StaleError = handle.StaleError

// Get returns a pointer to the item that h names, and whether there is one. It
// takes O(1) time and inlines (op=get).
//
// The pointer is good as long as the item lives. Afterwards its memory belongs
// to the item that takes the slot next.
func (m *Map[T]) Get(h handle.Of[T]) (*T, bool) {
	i := h.ID & sparse.IndexMask
	if p := i >> (m.shift & 63); p < handle.ID(len(m.pages)) {
		if c := &m.pages[p][i&m.mask]; c.word == h.ID {
			return &c.item, true
		}
	}
	return nil, false
}

// Has reports whether h names an item. It takes O(1) time and inlines.
func (m *Map[T]) Has(h handle.Of[T]) bool { return m.has(h.ID) }

func (m *Map[T]) has(id handle.ID) bool {
	i := id & sparse.IndexMask
	p := i >> (m.shift & 63)
	return p < handle.ID(len(m.pages)) && m.pages[p][i&m.mask].word == id
}

// At returns a pointer to the item that h names, as [Map.Get] does. It panics
// with a [*StaleError] if there is none; use it where that is a bug.
func (m *Map[T]) At(h handle.Of[T]) *T {
	item, ok := m.Get(h)
	if !ok {
		panic(&StaleError{Handle: h.ID, Held: m.held(h.ID), TypeID: m.TypeID()})
	}
	return item
}

// held returns what the slot that id points at holds: its word with the slot in
// place of the link, or the null handle when there is no such slot.
func (m *Map[T]) held(id handle.ID) handle.ID {
	if uint64(id.Slot()) >= uint64(m.slots) {
		return 0
	}
	const upper handle.ID = 1<<64 - 1<<32
	return *m.word(sparse.Slot(id.Slot()))&upper | handle.ID(id.Slot())
}

// Call calls f with the item that h names and reports whether there is one. f
// may look things up but not change the map; a change panics.
func (m *Map[T]) Call(h handle.Of[T], f func(*T)) bool {
	item, ok := m.Get(h)
	if ok {
		m.busy++
		defer func() { m.busy-- }()
		f(item)
	}
	return ok
}

// RowOf returns the row of the item that h names, which is its slot, and
// whether there is one. It takes O(1) time. A row never changes.
func (m *Map[T]) RowOf(h handle.Of[T]) (int, bool) {
	if m.has(h.ID) {
		return int(h.ID.Slot()), true
	}
	return 0, false
}

// HandleAt returns the handle of the item at row, 0 to Rows()-1, or the null
// handle when the row has none, in O(1) time. It panics, as indexing a slice
// does, when there is no such row.
func (m *Map[T]) HandleAt(row int) handle.Of[T] {
	if row < 0 || row >= m.Rows() {
		panic(fmt.Sprintf("slotmap: HandleAt of row %d of %d", row, m.Rows()))
	}
	if !m.live.Has(sparse.Row(row)) {
		return handle.Of[T]{}
	}
	return handle.Of[T]{ID: m.cell(sparse.Slot(row)).word}
}
