package slotmap

import (
	"math/bits"
	"unsafe"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// cell is a row: an item and, beside it, the word of its slot, so that a lookup
// that finds one has the other at hand.
type cell[T any] struct {
	word handle.ID
	item T // zero unless the slot is live (S4)
}

// pageBytes is what the cells of a page take at most, if more than one fits:
// large enough that the list of pages stays small, small enough that making a
// page is not felt (op=get, op=growth).
const pageBytes = 32 << 10

// pageShift returns how many bits of a slot say where in its page its cell lies.
func pageShift[T any]() uint8 {
	return uint8(bits.Len64(uint64(pageBytes/unsafe.Sizeof(cell[T]{})) / 2))
}

// cell returns the cell of a slot on a page with memory.
func (m *Map[T]) cell(slot sparse.Slot) *cell[T] {
	return &m.pages[slot>>m.shift][slot&sparse.Slot(m.mask)]
}

// word returns where the word of a slot is: in its cell, or among those that
// were kept when the page was given back.
func (m *Map[T]) word(slot sparse.Slot) *handle.ID {
	if p := int(slot >> m.shift); m.isReleased(p) {
		return &m.kept[p][slot&sparse.Slot(m.mask)]
	}
	return &m.cell(slot).word
}

// reuse issues the slot at the front of the freelist, whose page has memory.
func (m *Map[T]) reuse() *cell[T] {
	slot := m.list.Front()
	c := m.cell(slot)
	c.word = m.list.Pop(c.word) | handle.ID(slot)
	m.live.Add(sparse.Row(slot))
	return c
}

// makeSlot issues a new slot, for which there is room.
func (m *Map[T]) makeSlot() *cell[T] {
	slot := sparse.Slot(m.slots)
	m.slots++
	c := m.cell(slot)
	c.word = m.list.NextFresh() | handle.ID(slot)
	m.live.Add(sparse.Row(slot))
	return c
}

// issue issues n slots, for which there is room and memory, and calls f with
// their cells.
func (m *Map[T]) issue(n int, f func(i int, c *cell[T])) {
	reuse, fresh, _ := m.list.Split(m.slots, n)
	for i := range n {
		if i >= reuse && i < reuse+fresh {
			f(i, m.makeSlot())
		} else {
			f(i, m.reuse())
		}
	}
}

// eraseSlot ends the life of the item in a live slot. The cell is zeroed so that
// the collector can free what the item held.
func (m *Map[T]) eraseSlot(slot sparse.Slot) {
	c := m.cell(slot)
	w, vacant := m.list.Retire(c.word)
	*c = cell[T]{word: w}
	m.live.Remove(sparse.Row(slot))
	if vacant {
		if before, ok := m.list.Push(slot, slot, 1); ok {
			*m.word(before) |= sparse.Link(slot)
		}
	}
}
