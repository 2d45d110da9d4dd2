package pages

import (
	"unsafe"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Clone returns a copy; see slotmap.Map.Clone.
func (s *Stable) Clone() *Stable {
	s.guard("Clone")
	c := s.EmptyLike()
	s.CopyTo(c, nil)
	return c
}

// CopyTo makes dst, of the same type, a copy of s; see slotmap.Map.CopyTo. clone,
// if given, makes *dst a copy of *src.
func (s *Stable) CopyTo(dst *Stable, clone func(dst, src unsafe.Pointer)) {
	s.guard("CopyTo")
	dst.guard("CopyTo")
	if dst == s {
		return
	}
	pages := s.usedPages()
	s.makeCopyPages(dst)
	if clone == nil {
		for p := range pages {
			if !s.isReleased(p) {
				s.typ.cells.Copy(dst.pages[p], s.pages[p])
			}
		}
	} else {
		s.clonePages(dst, clone)
	}
	for p := range pages {
		s.copyReleased(dst, p)
	}
	dst.blank(pages, dst.usedPages())
	s.live.CopyTo(&dst.live)
	s.list.CopyTo(&dst.list)
	dst.slots, dst.maxItems = s.slots, s.maxItems
}

// makeCopyPages makes the pages that a copy of m takes in dst, with memory where
// those of m have some.
func (s *Stable) makeCopyPages(dst *Stable) {
	if s.slots > dst.room {
		dst.addPages(s.slots)
	}
	for p := range s.usedPages() {
		if !s.isReleased(p) {
			dst.restore(p)
		}
	}
}

// clonePages is the copying of the pages with memory where clone copies items.
func (s *Stable) clonePages(dst *Stable, clone func(dst, src unsafe.Pointer)) {
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
	for slot := range s.usedPages() << s.shift {
		if s.isReleased(slot >> s.shift) {
			continue
		}
		from, to := sparse.Slot(slot), dst.cell(sparse.Slot(slot))
		if s.live.Has(sparse.Row(slot)) {
			clone(dst.item(from), s.item(from))
		} else {
			s.typ.items.Zero(dst.item(from)) // S4
		}
		*to = *s.cell(from)
	}
	done = true
}

// copyReleased copies the page p if m gave it back: dst keeps the memory of its
// own, without items.
func (s *Stable) copyReleased(dst *Stable, p int) {
	switch {
	case !s.isReleased(p):
	case dst.isReleased(p):
		copy(dst.kept[p], s.kept[p])
	default:
		for i, w := range s.kept[p] {
			slot := sparse.Slot(p<<s.shift + i)
			s.typ.items.Zero(dst.item(slot))
			*dst.cell(slot) = w
		}
	}
}

// blank makes the pages first to end-1 like those that newPage makes, of which
// no slot was issued.
func (s *Stable) blank(first, end int) {
	for p := first; p < end; p++ {
		s.restore(p) // only pages in use may be without memory
		s.typ.cells.Clear(s.pages[p])
		if p == 0 {
			*s.cell(0) = handle.FreeBit
		}
	}
}

// empty makes the map, of which so many pages may be in use, one that was never
// used and keeps its memory.
func (s *Stable) empty(pages int) {
	s.blank(0, max(pages, s.usedPages()))
	s.live.Clear()
	s.list.Forget()
	s.slots = 0
}

// EmptyLike returns a map of the same item type and options that was never used.
func (s *Stable) EmptyLike() *Stable {
	return &Stable{typ: s.typ, maxItems: s.maxItems, list: s.list.Unused()}
}

// Become takes the state out of from, of the same type, which is of no use
// afterwards.
func (s *Stable) Become(from *Stable) {
	s.guard("Become")
	s.pages, s.kept, s.released = from.pages, from.kept, from.released
	s.shift, s.mask, s.size = from.shift, from.mask, from.size
	s.slots, s.room, s.list, s.live = from.slots, from.room, from.list, from.live
}
