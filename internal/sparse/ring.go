package sparse

import "handloom/shard/handle"

// Front returns the slot that is issued next of those that are vacant.
func (s *Freelist) Front() Slot { return s.ring[s.head] }

// at returns where in the ring the vacant slot is before which i others are
// issued, or would be.
func (s *Freelist) at(i uint32) int {
	at := s.head + int(i)
	if at >= len(s.ring) {
		at -= len(s.ring)
	}
	return at
}

// pushAll puts all these, of so many slots, at the back of the freelist and returns
// the ticket of the first.
func (s *Freelist) pushAll(all []Slot, slots int) (ticket uint32) {
	s.growRing(len(all), slots)
	n := copy(s.ring[s.at(s.vacant):], all)
	copy(s.ring, all[n:])
	return s.pushed(uint32(len(all)))
}

// PushRun puts the slots first to end-1, of so many slots, at the back of the freelist
// and returns the ticket of the first. None may be at its last generation; what the
// words become is the caller's.
func (s *Freelist) PushRun(first, end Slot, slots int) (ticket uint32) {
	s.growRing(int(end-first), slots)
	ring, at := s.ring, s.at(s.vacant)
	for slot := first; slot < end; slot++ {
		ring[at] = slot
		if at++; at == len(ring) {
			at = 0
		}
	}
	return s.pushed(uint32(end - first))
}

// pushed counts n slots that are in the ring behind the others already, and returns
// the ticket of the first.
func (s *Freelist) pushed(n uint32) (ticket uint32) {
	ticket = s.ticket + s.vacant
	s.vacant += n
	if s.vacant > s.minFree {
		s.Next = 0
	}
	return ticket
}

// PopAll takes as many slots as dst has elements off the front of the freelist,
// into dst. What their words become is the caller's, who tells [Freelist.Raise].
func (s *Freelist) PopAll(dst []Slot) {
	if len(dst) == 0 {
		return
	}
	n := copy(dst, s.ring[s.head:])
	copy(dst[n:], s.ring)
	s.head = s.at(uint32(len(dst)))
	s.ticket += uint32(len(dst))
	if s.vacant -= uint32(len(dst)); s.vacant == 0 {
		s.head = 0
	}
}

// Raise notes that a handle with this upper half was issued.
func (s *Freelist) Raise(upper handle.ID) { s.highest = max(s.highest, upper.Generation()) }

const smallestRing = 8

// growRing makes room for n more vacant slots, of so many slots in all: twice the
// room there was, but beyond that of all slots only a quarter more, which keeps
// growth rare where slots come one by one and all of them are vacant.
func (s *Freelist) growRing(n, slots int) {
	if need, had := int(s.vacant)+n, len(s.ring); need > had {
		s.moveRing(make([]Slot, max(need, smallestRing, min(2*had, max(slots, had+had/4)))))
	}
}

// ShrinkRing gives back what the vacant slots do not use.
func (s *Freelist) ShrinkRing() {
	if s.vacant == 0 {
		s.ring, s.head = nil, 0
		return
	}
	s.moveRing(make([]Slot, s.vacant))
}

func (s *Freelist) moveRing(to []Slot) {
	s.copyRing(to)
	s.ring, s.head = to, 0
}

// copyRing copies the vacant slots, in their order, to the front of a ring with room
// for them.
func (s *Freelist) copyRing(to []Slot) {
	if s.vacant > 0 {
		n := copy(to[:s.vacant], s.ring[s.head:])
		copy(to[n:s.vacant], s.ring)
	}
}

// RingBytes returns the memory of the ring.
func (s *Freelist) RingBytes() int64 { return int64(len(s.ring)) * 4 }
