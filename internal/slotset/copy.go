package slotset

import "fmt"

// CopyTo makes dst a full copy of s: freelist order, generations, floor and depletion
// included. dst must have capacity for the words; see [Set.Grow].
func (s *Set) CopyTo(dst *Set) {
	s.Freelist.CopyTo(&dst.Freelist)
	dst.Words = dst.Words[:len(s.Words)]
	copy(dst.Words, s.Words)
}

// Reset makes the set unused, with the same typeId and MinFree. It keeps the memory.
func (s *Set) Reset() {
	s.Freelist.Reset()
	s.Words = s.Words[:0]
}

// CopyTo makes dst a copy of s and reuses its memory if it suffices. The caller copies the
// words.
func (s *Freelist) CopyTo(dst *Freelist) {
	ring := dst.ring
	if vacant := s.vacant(); int(vacant) > len(ring) {
		ring = make([]Slot, vacant)
	}
	s.copyRing(ring)
	*dst = *s
	dst.ring, dst.base = ring, s.front
	dst.setWidths() // dst may have capacity for slots although s never grew
}

// MustMatch panics unless the map of dst, which belongs to a table, can take a copy of the
// map of s: typeId and MinFree must match, because handles contain the one and snapshots
// the other.
func (s *Freelist) MustMatch(dst *Freelist, pkg string) {
	if s.typeID != dst.typeID || s.minFree != dst.minFree {
		panic(fmt.Sprintf("%s: CopyTo into a map that belongs to a table: got typeId %d, MinFree %d, want typeId %d, MinFree %d; "+
			"insert the items, which gives them handles of the table",
			pkg, s.typeID, s.minFree, dst.typeID, dst.minFree))
	}
}

// Reset makes the freelist unused, with the same typeId and MinFree. It keeps the memory.
func (s *Freelist) Reset() {
	unused := s.Unused()
	unused.CopyTo(s)
}

// Unused returns an unused freelist with the same typeId and MinFree.
func (s *Freelist) Unused() Freelist { return Freelist{typeID: s.typeID, minFree: s.minFree} }

// CopyTo makes dst a copy of l. dst grows if needed and never shrinks.
func (l *Live) CopyTo(dst *Live) {
	dst.Grow(l.Cap())
	for i, page := range l.Pages {
		*dst.Pages[i] = *page
	}
	for _, page := range dst.Pages[len(l.Pages):] {
		clear(page[:])
	}
}
