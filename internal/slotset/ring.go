package slotset

import "handloom/shard/handle"

// Front returns the slot that is issued next of those that are vacant.
func (s *Freelist) Front() Slot { return s.ring[s.at(s.front)] }

// at returns where in the ring the slot with this ticket is, or would be.
func (s *Freelist) at(ticket uint64) int {
	at := int(ticket - s.base)
	if at >= len(s.ring) {
		at -= len(s.ring)
	}
	return at
}

// pushAll puts all these, of so many slots, at the back of the freelist and returns
// the ticket of the first.
func (s *Freelist) pushAll(all []Slot, slots int) (ticket uint32) {
	s.GrowRing(len(all), slots)
	n := copy(s.ring[s.at(s.back):], all)
	copy(s.ring, all[n:])
	return s.pushed(uint32(len(all)))
}

// exchange puts all these at the back of the freelist, as pushAll does. If that is less
// to copy, and does not leave more of a larger ring unused than growth would, their array
// becomes the ring; what was the ring is returned, or else their array.
func (s *Freelist) exchange(all []Slot, slots int) []Slot {
	vacant, room := int(s.vacant()), cap(all)
	need := vacant + len(all)
	if vacant > len(all) || need > room || len(s.ring) < room && need <= max(len(s.ring), room/2) {
		s.pushAll(all, slots)
		return all[:0]
	}
	spare, ring := s.ring[:0], all[:room]
	// Those that were vacant before come first, and end where the ring does.
	s.copyRing(ring[room-vacant:])
	s.ring, s.base = ring, s.front
	if vacant > 0 {
		s.base -= uint64(room - vacant)
	}
	s.pushed(uint32(len(all)))
	return spare
}

// PushRun puts the slots first to end-1, of so many slots, at the back of the freelist
// and returns the ticket of the first. None may be at its last generation; what the
// words become is the caller's.
func (s *Freelist) PushRun(first, end Slot, slots int) (ticket uint32) {
	s.GrowRing(int(end-first), slots)
	back := s.ring[s.at(s.back):]
	n := min(len(back), int(end-first))
	countUp(back[:n], first)
	countUp(s.ring[:int(end-first)-n], first+Slot(n))
	return s.pushed(uint32(end - first))
}

func countUp(slots []Slot, first Slot) {
	for i := range slots {
		slots[i] = first + Slot(i)
	}
}

// pushed counts n slots that are in the ring behind the others already, and returns
// the ticket of the first.
func (s *Freelist) pushed(n uint32) (ticket uint32) {
	ticket = uint32(s.back)
	s.back += uint64(n)
	if s.CanReuse() {
		s.Next = 0
	}
	return ticket
}

// popped counts n slots that are in the ring no more. One without any begins anew at
// its start, which the cache has if few slots are vacant at a time.
func (s *Freelist) popped(n uint32) {
	s.front += uint64(n)
	switch {
	case s.front == s.back:
		s.base = s.front
	case int(s.front-s.base) >= len(s.ring):
		s.base += uint64(len(s.ring))
	}
}

// PopAll takes as many slots as dst has elements off the front of the freelist,
// into dst. What their words become is the caller's, who tells [Freelist.Raise].
func (s *Freelist) PopAll(dst []Slot) {
	if len(dst) == 0 {
		return
	}
	n := copy(dst, s.ring[s.at(s.front):])
	copy(dst[n:], s.ring)
	s.popped(uint32(len(dst)))
}

// Raise notes that a handle with this upper half was issued.
func (s *Freelist) Raise(upper handle.ID) { s.highest = max(s.highest, upper.Generation()) }

const smallestRing = 8

// GrowRing makes room for n more vacant slots, of so many slots in all: twice the
// room there was, but beyond that of all slots only a quarter more, which keeps
// growth rare where slots come one by one and all of them are vacant.
func (s *Freelist) GrowRing(n, slots int) {
	if need, had := int(s.vacant())+n, len(s.ring); need > had {
		s.moveRing(make([]Slot, max(need, smallestRing, min(2*had, max(slots, had+had/4)))))
	}
}

// ShrinkRing gives back what the vacant slots do not use.
func (s *Freelist) ShrinkRing() {
	if s.vacant() == 0 {
		s.moveRing(nil)
		return
	}
	s.moveRing(make([]Slot, s.vacant()))
}

func (s *Freelist) moveRing(to []Slot) {
	s.copyRing(to)
	s.ring, s.base = to, s.front
}

// copyRing copies the vacant slots, in their order, to the front of a ring with room
// for them.
func (s *Freelist) copyRing(to []Slot) {
	if vacant := s.vacant(); vacant > 0 {
		n := copy(to[:vacant], s.ring[s.at(s.front):])
		copy(to[n:vacant], s.ring)
	}
}

// RingBytes returns the memory of the ring.
func (s *Freelist) RingBytes() int64 { return int64(len(s.ring)) * 4 }
