package slotset

import "handloom/shard/handle"

// Front returns the vacant slot to issue next.
func (s *Freelist) Front() Slot { return s.ring[s.at(s.front)] }

// at returns the position in the ring for a ticket.
func (s *Freelist) at(ticket uint64) int {
	at := int(ticket - s.base)
	if at >= len(s.ring) {
		at -= len(s.ring)
	}
	return at
}

// pushAll adds slots to the back of the freelist and returns the ticket of the first. slots
// is the total number of slots.
func (s *Freelist) pushAll(all []Slot, slots int) (ticket uint32) {
	s.GrowRing(len(all), slots)
	n := copy(s.ring[s.at(s.back):], all)
	copy(s.ring, all[n:])
	return s.pushed(uint32(len(all)))
}

// exchange is pushAll that may turn the array of all into the ring and returns the old
// ring, if that copies less and leaves no more of a larger ring unused than growth would.
// Otherwise it returns the array of all.
func (s *Freelist) exchange(all []Slot, slots int) []Slot {
	vacant, room := int(s.vacant()), cap(all)
	need := vacant + len(all)
	if vacant > len(all) || need > room || len(s.ring) < room && need <= max(len(s.ring), room/2) {
		s.pushAll(all, slots)
		return all[:0]
	}
	spare, ring := s.ring[:0], all[:room]
	// The slots that were vacant before come first and end where the ring ends.
	s.copyRing(ring[room-vacant:])
	s.ring, s.base = ring, s.front
	if vacant > 0 {
		s.base -= uint64(room - vacant)
	}
	s.pushed(uint32(len(all)))
	return spare
}

// PushRun adds the slots first to end-1 to the back of the freelist and returns the ticket
// of the first. None may be at its last generation. The caller updates the words. slots is
// the total number of slots.
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

// pushed counts n slots that were added at the back of the ring and returns the ticket of
// the first.
func (s *Freelist) pushed(n uint32) (ticket uint32) {
	ticket = uint32(s.back)
	s.back += uint64(n)
	if s.CanReuse() {
		s.Next = 0
	}
	return ticket
}

// popped counts n slots that were taken off the front. An empty ring restarts at its
// beginning, which the cache holds if few slots are vacant at a time.
func (s *Freelist) popped(n uint32) {
	s.front += uint64(n)
	switch {
	case s.front == s.back:
		s.base = s.front
	case int(s.front-s.base) >= len(s.ring):
		s.base += uint64(len(s.ring))
	}
}

// PopAll takes len(dst) slots off the front of the freelist into dst. The caller updates
// their words and calls [Freelist.Raise].
func (s *Freelist) PopAll(dst []Slot) {
	if len(dst) == 0 {
		return
	}
	n := copy(dst, s.ring[s.at(s.front):])
	copy(dst[n:], s.ring)
	s.popped(uint32(len(dst)))
}

// Raise records that a handle with this upper half was issued.
func (s *Freelist) Raise(upper handle.ID) { s.highest = max(s.highest, upper.Generation()) }

const smallestRing = 8

// GrowRing makes room for n more vacant slots of slots in total. It doubles the room; above
// the total it adds only a quarter, which keeps growth rare where slots come one by one and
// all are vacant.
func (s *Freelist) GrowRing(n, slots int) {
	if need, had := int(s.vacant())+n, len(s.ring); need > had {
		s.moveRing(make([]Slot, max(need, smallestRing, min(2*had, max(slots, had+had/4)))))
	}
}

// ShrinkRing releases unused room.
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

// copyRing copies the vacant slots in order to the front of to, which has room.
func (s *Freelist) copyRing(to []Slot) {
	if vacant := s.vacant(); vacant > 0 {
		n := copy(to[:vacant], s.ring[s.at(s.front):])
		copy(to[n:vacant], s.ring)
	}
}

// RingBytes returns the memory of the ring in bytes.
func (s *Freelist) RingBytes() int64 { return int64(len(s.ring)) * 4 }
