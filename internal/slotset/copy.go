package slotset

// CopyTo requires that dst has capacity for the words; see [Set.Grow].
func (s *Set) CopyTo(dst *Set) {
	s.Freelist.CopyTo(&dst.Freelist)
	dst.Words = dst.Words[:len(s.Words)]
	copy(dst.Words, s.Words)
}

func (s *Set) Reset() {
	s.Freelist.Reset()
	s.Words = s.Words[:0]
}

// CopyTo reuses the memory of dst. The caller copies the words.
func (s *Freelist) CopyTo(dst *Freelist) {
	ring := dst.ring
	if vacant := s.vacant(); int(vacant) > len(ring) {
		ring = make([]Slot, vacant)
	}
	s.copyRing(ring)
	*dst = *s
	dst.ring, dst.base, dst.edge = ring, s.front, 0
	dst.setWidths() // dst may have capacity for slots although s never grew
}

// Reset keeps the memory, typeId and MinFree.
func (s *Freelist) Reset() {
	unused := s.Unused()
	unused.CopyTo(s)
}

// Unused returns an unused freelist with the same typeId and MinFree.
func (s *Freelist) Unused() Freelist { return Freelist{typeID: s.typeID, minFree: s.minFree} }

func (l *Live) CopyTo(dst *Live) {
	dst.Grow(l.Cap())
	for i, page := range l.Pages {
		*dst.Pages[i] = *page
	}
	for _, page := range dst.Pages[len(l.Pages):] {
		clear(page[:])
	}
}
