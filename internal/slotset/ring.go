package slotset

import "handloom/handle"

func (s *Freelist) Front() Slot { return s.ring[s.at(s.front)] }

func (s *Freelist) at(ticket uint64) int {
	at := int(ticket - s.base)
	if at >= len(s.ring) {
		at -= len(s.ring)
	}
	return at
}

// pushAll adds slots to the freelist, of slots in total, and returns the first ticket.
func (s *Freelist) pushAll(all []Slot, slots int) (ticket uint32) {
	s.GrowRing(len(all), slots)
	n := copy(s.ring[s.at(s.back):], all)
	copy(s.ring, all[n:])
	return s.pushed(uint32(len(all)))
}

// exchange is pushAll that may make the array of all the ring, if that copies less and
// leaves no more unused than growth would. It returns the spare array.
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
	s.ring, s.base, s.edge = ring, s.front, 0
	if vacant > 0 {
		s.base -= uint64(room - vacant)
	}
	s.pushed(uint32(len(all)))
	return spare
}

// PushRun is pushAll for the slots first to end-1, not at their last generation. The caller
// updates the words.
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

func (s *Freelist) pushed(n uint32) (ticket uint32) {
	ticket = uint32(s.back)
	s.back += uint64(n)
	if s.CanReuse() {
		s.Next = 0
	}
	return ticket
}

// popped counts n slots taken off the front. An empty ring restarts at its beginning, which
// is likely cached.
func (s *Freelist) popped(n uint32) {
	s.front += uint64(n)
	switch {
	case s.front == s.back:
		s.base, s.edge = s.front, 0
	case int(s.front-s.base) >= len(s.ring):
		s.base += uint64(len(s.ring))
	}
}

// PopAll fills dst from the front. The caller updates the words and calls [Freelist.Raise].
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

const smallestRing = 16

// GrowRing makes room for n more vacant slots of slots in total. It doubles the room; above
// the total it adds only a quarter, which keeps growth rare where slots come one by one and
// all are vacant.
func (s *Freelist) GrowRing(n, slots int) {
	if need, had := int(s.vacant())+n, len(s.ring); need > had {
		s.moveRing(make([]Slot, max(need, smallestRing, min(2*had, max(slots, had+had/4)))))
	}
}

func (s *Freelist) ShrinkRing() {
	if s.vacant() == 0 {
		s.moveRing(nil)
		return
	}
	s.moveRing(make([]Slot, s.vacant()))
}

func (s *Freelist) moveRing(to []Slot) {
	s.copyRing(to)
	s.ring, s.base, s.edge = to, s.front, 0
}

func (s *Freelist) copyRing(to []Slot) {
	if vacant := s.vacant(); vacant > 0 {
		n := copy(to[:vacant], s.ring[s.at(s.front):])
		copy(to[n:vacant], s.ring)
	}
}

func (s *Freelist) RingBytes() int64 { return int64(len(s.ring)) * 4 }
