package paged

// Shrink releases the memory of pages without items; see slotmap.Map.Shrink.
func (s *Set) Shrink() {
	s.guard("Shrink")
	used := s.usedPages()
	// Pages past the slots are dropped whole. Other pages keep their words: old handles
	// must stay stale.
	s.pages = append(make([]page, 0, used), s.pages[:used]...)
	s.live.Shrink(used << s.shift)
	s.setRoom()
	s.list.ShrinkRing()
	s.marks, s.one, s.some = nil, nil, nil
	s.released = 0
	for p := range s.pages {
		if !s.hasItems(p) {
			s.pages[p].items = nil
			s.released++
		}
	}
}

// hasItems reports whether a page has a live slot.
func (s *Set) hasItems(p int) bool {
	first, end := s.live.Run(p<<s.shift, (p+1)<<s.shift)
	return first < end
}
