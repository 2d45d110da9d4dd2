package sparse

import "handloom/shard/handle"

// Vacate ends the life of the item in a live slot: the slot's generation rises
// and the slot joins the back of the freelist, or it is depleted.
func (s *Set) Vacate(slot Slot) {
	w := s.Words[slot]
	if w.Generation() == s.last {
		// Reusing the slot would need a generation that was already handed
		// out, and an old handle would then name the new item. One slot is
		// cheaper.
		s.Words[slot] = handle.FreeBit | s.typeID
		s.depleted++
		return
	}
	s.Words[slot] = handle.FreeBit | (w&^rowMask + oneGeneration)
	s.enqueue(slot)
}

// enqueue puts a vacant slot whose link is 0 at the back of the freelist.
func (s *Set) enqueue(slot Slot) {
	if s.back == 0 {
		s.front = link(slot) + 1
	} else {
		s.Words[s.back-1] |= handle.ID(slot) + 1 // the last link was 0
	}
	s.back = link(slot) + 1
	s.vacant++
}

// VacateAll vacates the live slots in the order given, which is every live
// slot of the set.
func (s *Set) VacateAll(slots []Slot) {
	if s.highest >= s.last || len(slots) == 0 {
		for _, slot := range slots {
			s.Vacate(slot)
		}
		return
	}
	// No slot can be depleted, so the slots are chained without a branch per
	// slot (op=clear).
	words := s.Words
	for i, slot := range slots[:len(slots)-1] {
		w := &words[slot]
		*w = handle.FreeBit | (*w&^rowMask + oneGeneration) | (handle.ID(slots[i+1]) + 1)
	}
	tail := slots[len(slots)-1]
	words[tail] = handle.FreeBit | (words[tail]&^rowMask + oneGeneration)
	if s.back == 0 {
		s.front = link(slots[0]) + 1
	} else {
		words[s.back-1] |= handle.ID(slots[0]) + 1
	}
	s.back = link(tail) + 1
	s.vacant += uint32(len(slots))
}

// CanDrop reports whether [Set.Drop] may be called: while the highest
// generation ever issued is in the lower half of all generations, there are
// enough left above it for new slots.
func (s *Set) CanDrop() bool { return uint32(s.highest) < (uint32(s.last)+1)/2 || s.highest == 0 }

// Drop forgets every slot. New slots begin above the highest generation ever
// issued, so that handles from before stay stale.
func (s *Set) Drop() {
	s.floor = s.highest
	s.Words, s.front, s.back, s.vacant = nil, 0, 0, 0
}
