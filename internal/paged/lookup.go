package paged

import (
	"fmt"
	"unsafe"

	"handloom/handle"
	"handloom/internal/slotset"
)

// Find takes O(1) time and inlines, also within a table method that finds the map first; it
// is at the inliner's budget (op=get).
func Find[T any](s *Set, id handle.ID) (v *T, ok bool) {
	if p := id & slotset.IndexMask >> (s.shift & 63); p < handle.ID(len(s.pages)) {
		if i := uintptr(id & s.mask); *(*handle.ID)(unsafe.Add(s.pages[p].words, i*8)) == id {
			return (*T)(unsafe.Add(s.pages[p].items, i*unsafe.Sizeof(*v))), true
		}
	}
	return
}

// At requires that the row in the lower half of ref has an item. It is at the inliner's
// budget.
func At[T any](s *Set, ref handle.ID) *T {
	return (*T)(unsafe.Add(s.pages[uint32(ref)>>(s.shift&31)].items, uintptr(ref&s.mask)*unsafe.Sizeof(*new(T))))
}

// Has takes O(1) time.
func (s *Set) Has(id handle.ID) bool {
	i := id & slotset.IndexMask
	p := i >> (s.shift & 63)
	return p < handle.ID(len(s.pages)) && *s.word(slotset.Slot(i)) == id
}

// NewStaleError returns the panic value of the At methods.
func (s *Set) NewStaleError(id handle.ID) *handle.StaleError {
	return &handle.StaleError{Handle: id, Held: s.held(id), TypeID: s.TypeID()}
}

// held returns the word of id's slot as a handle, or null if the slot does not exist.
func (s *Set) held(id handle.ID) handle.ID {
	if uint64(id.Slot()) >= uint64(s.slots) {
		return 0
	}
	return *s.word(slotset.Slot(id.Slot()))&slotset.UpperHalf | handle.ID(id.Slot())
}

// Item returns the address of the item of id, or nil.
func (s *Set) Item(id handle.ID) unsafe.Pointer {
	if s.Has(id) {
		return s.item(slotset.Slot(id.Slot()))
	}
	return nil
}

// RowOf returns the row of the item of id, and whether it exists. The row is the slot.
func (s *Set) RowOf(id handle.ID) (int, bool) {
	if s.Has(id) {
		return int(id.Slot()), true
	}
	return 0, false
}

// RowsOf sets rows[i] to the row of ids[i], or to [slotset.NoRow].
func (s *Set) RowsOf(ids []handle.ID, rows []slotset.Row) {
	rows = rows[:len(ids)]
	for i, id := range ids {
		rows[i] = slotset.NoRow
		if s.Has(id) {
			rows[i] = slotset.Row(id)
		}
	}
}

// IDAt returns null if the row is empty. It panics unless 0 <= row < Rows().
func (s *Set) IDAt(row int) handle.ID {
	if row < 0 || row >= s.slots {
		panic(fmt.Sprintf("slotmap: HandleAt of row %d of %d", row, s.slots))
	}
	if !s.live.Has(slotset.Row(row)) {
		return 0
	}
	return *s.word(slotset.Slot(row))
}

// At returns nil if the row is empty. It does not inline, so that loops over rows of either
// kind of table do.
//
//go:noinline
func (s *Set) At(row int) unsafe.Pointer {
	if s.live.Has(slotset.Row(row)) {
		return s.item(slotset.Slot(row))
	}
	return nil
}

// All is the untyped iteration by ascending row.
func (s *Set) All(yield func(id handle.ID, item unsafe.Pointer) bool) { s.From(0, yield) }

// From skips the first n items in O(slots/64) time.
func (s *Set) From(n int, yield func(id handle.ID, item unsafe.Pointer) bool) {
	for first, end := range s.live.Runs(s.live.Nth(n), s.slots) {
		for slot := first; slot < end; slot++ {
			if !yield(*s.word(slotset.Slot(slot)), s.item(slotset.Slot(slot))) {
				return
			}
		}
	}
}
