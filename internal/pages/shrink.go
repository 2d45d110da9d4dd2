package pages

import (
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Shrink gives back the memory of pages without items; see slotmap.Map.Shrink.
func (s *Stable) Shrink() {
	s.guard("Shrink")
	used := s.usedPages()
	s.pages = append(make([]items.Slice, 0, used), s.pages[:used]...)
	s.live.Shrink(used << s.shift)
	s.setRoom()
	s.list.ShrinkRing()
	s.marks, s.one = nil, nil

	empty := 0
	for p := range s.pages {
		if !s.hasItems(p) {
			empty++
		}
	}
	if empty > 1 {
		s.release()
	}
}

// release puts one blank page in the place of the pages without items, and
// keeps their words.
func (s *Stable) release() {
	blank := s.newPage(0)
	s.kept = append(make([][]handle.ID, 0, len(s.pages)), s.kept...)[:len(s.pages)]
	for p, page := range s.pages {
		if s.hasItems(p) {
			continue
		}
		if s.kept[p] == nil {
			s.kept[p] = make([]handle.ID, page.Len())
			for i := range s.kept[p] {
				s.kept[p][i] = *(*handle.ID)(page.Pointer(i, s.typ.cells.Size))
			}
			s.released++
		}
		s.pages[p] = blank
	}
}

// restore gives a released page memory again.
func (s *Stable) restore(p int) {
	if !s.isReleased(p) {
		return
	}
	page := s.typ.cells.Make(1 << s.shift)
	for i, w := range s.kept[p] {
		*(*handle.ID)(page.Pointer(i, s.typ.cells.Size)) = w
	}
	s.pages[p], s.kept[p] = page, nil
	s.released--
}

func (s *Stable) hasItems(p int) bool {
	for range s.live.Runs(p<<s.shift, (p+1)<<s.shift) {
		return true
	}
	return false
}

// isReleased reports whether the page p was given back.
func (s *Stable) isReleased(p int) bool { return p < len(s.kept) && s.kept[p] != nil }
