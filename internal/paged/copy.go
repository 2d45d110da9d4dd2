package paged

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/slotset"
)

// Clone returns a copy, by assignment.
func (s *Set) Clone() *Set {
	s.guard("Clone")
	c := s.EmptyLike()
	s.CopyTo(c, nil)
	return c
}

// CopyTo is slotmap.Map.CopyTo.
func (s *Set) CopyTo(dst *Set, clone func(dst, src unsafe.Pointer)) {
	s.guard("CopyTo")
	dst.guard("CopyTo")
	if dst == s {
		return
	}
	pages := s.usedPages()
	// All memory first, so that only clone can fail below.
	s.makeCopyPages(dst)
	if clone != nil {
		s.cloneItems(dst, clone)
	}
	for p := range pages {
		copy(dst.words(p), s.words(p))
		switch {
		case dst.isReleased(p):
		// A page without items in s has zero items in dst (S4).
		case s.isReleased(p):
			dst.clearItems(p)
		case clone == nil:
			s.typ.Copy(dst.items(p), s.items(p))
		}
	}
	// Pages of dst past the copy become as new.
	dst.blank(pages, dst.usedPages())
	s.live.CopyTo(&dst.live)
	s.list.CopyTo(&dst.list)
	dst.slots, dst.maxItems = s.slots, s.maxItems
}

// makeCopyPages gives dst memory for each page that has items in s.
func (s *Set) makeCopyPages(dst *Set) {
	if s.slots > dst.room {
		dst.addPages(s.slots)
	}
	for p := range s.usedPages() {
		if !s.isReleased(p) {
			dst.restore(p)
		}
	}
}

// cloneItems calls clone for each item, by ascending slot, with the old item of dst or
// zero. If clone panics, dst becomes empty.
func (s *Set) cloneItems(dst *Set, clone func(dst, src unsafe.Pointer)) {
	done := false
	s.busy++
	dst.busy++
	defer func() {
		s.busy--
		dst.busy--
		if !done {
			dst.empty(s.usedPages())
		}
	}()
	for slot := range slotset.Slot(s.usedPages() << s.shift) {
		switch {
		case s.live.Has(slotset.Row(slot)):
			clone(dst.item(slot), s.item(slot))
		case !s.isReleased(int(slot >> s.shift)):
			s.typ.Zero(dst.item(slot)) // S4
		}
	}
	done = true
}

// clearItems zeroes the items of a page if they hold pointers.
func (s *Set) clearItems(p int) {
	if s.typ.Pointers {
		s.typ.Clear(s.items(p))
	}
}

// blank resets the pages first to end-1 to the state of new pages.
func (s *Set) blank(first, end int) {
	for p := first; p < end; p++ {
		s.restore(p) // only pages in use may lack memory
		s.clearItems(p)
		clear(s.words(p))
		if p == 0 {
			*s.word(0) = handle.FreeBit
		}
	}
}

// empty resets at least the first pages pages and keeps their memory.
func (s *Set) empty(pages int) {
	s.blank(0, max(pages, s.usedPages()))
	s.live.Clear()
	s.list.Reset()
	s.slots = 0
}

// EmptyLike returns an unused map of the same type and options.
func (s *Set) EmptyLike() *Set {
	return &Set{typ: s.typ, maxItems: s.maxItems, list: s.list.Unused()}
}

// MoveFrom leaves from unusable. Both have the same type.
func (s *Set) MoveFrom(from *Set) {
	s.guard("MoveFrom")
	s.pages, s.released, s.shift, s.mask = from.pages, from.released, from.shift, from.mask
	s.slots, s.room, s.list, s.live = from.slots, from.room, from.list, from.live
}
