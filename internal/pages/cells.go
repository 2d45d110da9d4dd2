package pages

import (
	"math/bits"
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// cell is a row: an item and, beside it, the word of its slot, so that a lookup
// that finds one has the other at hand.
type cell[T any] struct {
	word handle.ID
	item T // zero, if it can hold pointers, unless the slot is live (S4)
}

// Type is what a [Stable] has to know of its item type.
type Type struct {
	items  *items.Type
	cells  *items.Type
	offset uintptr // of the item in its cell
	steps
}

// steps is what has to be typed beside the steps of [items.Type]: how the slots
// of many items come to life and end, which for speed calls nothing per item.
type steps interface {
	insert(s *Stable, values items.Slice, dst []handle.ID)
	erase(s *Stable, slots []sparse.Slot)
}

// typed is steps for T.
type typed[T any] struct{}

// TypeFor returns the Type of T. It takes some microseconds.
func TypeFor[T any]() *Type {
	return &Type{
		items: items.For[T](), cells: items.For[cell[T]](),
		offset: unsafe.Offsetof(cell[T]{}.item), steps: new(typed[T]),
	}
}

// pageBytes is what the cells of a page take at most, if more than one fits:
// large enough that the list of pages stays small, small enough that making a
// page is not felt (op=get, op=growth).
const pageBytes = 32 << 10

// pageShift returns how many bits of a slot say where in its page its cell lies.
func (t *Type) pageShift() uint8 {
	return uint8(bits.Len64(uint64(pageBytes/t.cells.Size) / 2))
}

// cellOf returns the cell of a slot on a page with memory.
func cellOf[T any](s *Stable, slot sparse.Slot) *cell[T] {
	return &(*(*[]cell[T])(unsafe.Pointer(&s.pages[slot>>(s.shift&31)])))[slot&sparse.Slot(s.mask)]
}

// cell returns the address of the cell of a slot on a page with memory, which is
// that of its word.
func (s *Stable) cell(slot sparse.Slot) *handle.ID {
	return (*handle.ID)(s.pages[slot>>(s.shift&31)].Pointer(int(slot&sparse.Slot(s.mask)), s.size))
}

// item returns the address of the item of a slot on a page with memory.
func (s *Stable) item(slot sparse.Slot) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(s.cell(slot)), s.typ.offset)
}

// word returns where the word of a slot is: in its cell, or among those that
// were kept when the page was given back.
func (s *Stable) word(slot sparse.Slot) *handle.ID {
	if p := int(slot >> s.shift); s.isReleased(p) {
		return &s.kept[p][slot&sparse.Slot(s.mask)]
	}
	return s.cell(slot)
}

// reuse issues the slot at the front of the freelist, whose page has memory.
func reuse[T any](s *Stable) *cell[T] {
	slot := s.list.Front()
	c := cellOf[T](s, slot)
	c.word = s.list.Pop(c.word) | handle.ID(slot)
	s.live.Add(sparse.Row(slot))
	return c
}

// makeSlot issues a new slot, for which there is room.
func makeSlot[T any](s *Stable) *cell[T] {
	slot := sparse.Slot(s.slots)
	s.slots++
	c := cellOf[T](s, slot)
	c.word = s.list.NextFresh() | handle.ID(slot)
	s.live.Add(sparse.Row(slot))
	return c
}

// insert issues a slot for each value, for which there is room and memory.
func (*typed[T]) insert(s *Stable, values items.Slice, dst []handle.ID) {
	all := *items.As[T](&values)
	reused, fresh, _ := s.list.Split(s.slots, len(all))
	end := reused + fresh
	reuseMany(s, all[:reused], dst[:reused])
	makeMany(s, all[reused:end], dst[reused:end])
	reuseMany(s, all[end:], dst[end:])
}

// atOnce is how many slots are taken off the freelist at a time.
const atOnce = 256

// reuseMany is reuse for each value, in one loop (op=insertitems).
func reuseMany[T any](s *Stable, all []T, dst []handle.ID) {
	var front [atOnce]sparse.Slot
	var highest handle.ID
	for len(all) > 0 {
		slots := front[:min(atOnce, len(all))]
		s.list.PopAll(slots)
		for i, slot := range slots {
			c := cellOf[T](s, slot)
			id := c.word&(sparse.UpperHalf&^handle.FreeBit) | handle.ID(slot)
			c.word, c.item, dst[i] = id, all[i], id
			highest = max(highest, id)
			s.live.Pages[slot/64/sparse.BitmapWords][slot/64%sparse.BitmapWords] |= 1 << (slot % 64)
		}
		all, dst = all[len(slots):], dst[len(slots):]
	}
	s.list.Raise(highest)
}

// makeMany is makeSlot for each value, page by page.
func makeMany[T any](s *Stable, all []T, dst []handle.ID) {
	if len(all) == 0 {
		return
	}
	upper := s.list.NextFresh()
	for len(all) > 0 {
		slot := s.slots
		cells := (*items.As[cell[T]](&s.pages[slot>>(s.shift&63)]))[slot&int(s.mask):]
		n := min(len(cells), len(all))
		for i, v := range all[:n] {
			id := upper | handle.ID(slot+i)
			cells[i].word, cells[i].item, dst[i] = id, v, id
		}
		s.live.AddRange(slot, slot+n)
		s.slots += n
		all, dst = all[n:], dst[n:]
	}
}

// issue issues n slots, for which there is room and memory, and whose items are in
// place.
func (s *Stable) issue(n int) {
	reused, fresh, _ := s.list.Split(s.slots, n)
	for i := range n {
		if i >= reused && i < reused+fresh {
			slot := sparse.Slot(s.slots)
			s.slots++
			*s.cell(slot) = s.list.NextFresh() | handle.ID(slot)
			s.live.Add(sparse.Row(slot))
		} else {
			slot := s.list.Front()
			word := s.cell(slot)
			*word = s.list.Pop(*word) | handle.ID(slot)
			s.live.Add(sparse.Row(slot))
		}
	}
}

// eraseSlot ends the life of the item in a live slot. An item with pointers is zeroed
// so that the collector can free what it held.
func eraseSlot[T any](s *Stable, slot sparse.Slot) {
	c := cellOf[T](s, slot)
	if s.typ.items.Pointers {
		var none T
		c.item = none
	}
	c.word = s.list.Retire(slot, c.word, s.slots)
	s.live.Pages[slot/64/sparse.BitmapWords][slot/64%sparse.BitmapWords] &^= 1 << (slot % 64)
}

func (*typed[T]) erase(s *Stable, slots []sparse.Slot) {
	for _, slot := range slots {
		eraseSlot[T](s, slot)
	}
}
