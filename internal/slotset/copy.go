package slotset

import "fmt"

// CopyTo makes dst a copy of s, to evolve as s would: freelist order,
// generations, floor and depletion included. dst has capacity for the words of
// s; see [Set.Grow].
func (s *Set) CopyTo(dst *Set) {
	s.Freelist.CopyTo(&dst.Freelist)
	dst.Words = dst.Words[:len(s.Words)]
	copy(dst.Words, s.Words)
}

// Reset makes the set that of a map never used, with the same typeId and number
// of slots held back. It keeps the memory.
func (s *Set) Reset() {
	s.Freelist.Forget()
	s.Words = s.Words[:0]
}

// CopyTo makes dst a copy of s, in the memory that dst has if it is enough. The
// words are the caller's to copy.
func (s *Freelist) CopyTo(dst *Freelist) {
	ring := dst.ring
	if vacant := s.vacant(); int(vacant) > len(ring) {
		ring = make([]Slot, vacant)
	}
	s.copyRing(ring)
	*dst = *s
	dst.ring, dst.base = ring, s.front
	dst.setWidths() // dst may have room for slots where s never grew
}

// MustMatch panics unless the map of dst, which is a table's, can take a copy of the map
// of s: handles have the typeId, and snapshots are read by MinFree.
func (s *Freelist) MustMatch(dst *Freelist, pkg string) {
	if s.typeID != dst.typeID || s.minFree != dst.minFree {
		panic(fmt.Sprintf("%s: CopyTo into a map that belongs to a table: got typeId %d, MinFree %d, want typeId %d, MinFree %d; "+
			"insert the items, which gives them handles of the table",
			pkg, s.typeID, s.minFree, dst.typeID, dst.minFree))
	}
}

// Forget makes the freelist that of a map never used, with the same typeId and
// number of slots held back.
func (s *Freelist) Forget() {
	unused := s.Unused()
	unused.CopyTo(s)
}

// Unused returns the freelist of a map never used, with the same typeId and number
// of slots held back.
func (s *Freelist) Unused() Freelist { return Freelist{typeID: s.typeID, minFree: s.minFree} }

// CopyTo makes dst say of every row what l says. It makes the room that dst
// lacks, and keeps what it has.
func (l *Live) CopyTo(dst *Live) {
	dst.Grow(l.Cap())
	for i, page := range l.Pages {
		*dst.Pages[i] = *page
	}
	for _, page := range dst.Pages[len(l.Pages):] {
		clear(page[:])
	}
}
