package sparse

import (
	"handloom/shard/handle"
)

// Vacate ends the life of the item in a live slot: the slot's generation rises
// and the slot joins the back of the freelist, or it is depleted.
func (s *Set) Vacate(slot Slot) {
	w, vacant := s.Retire(s.Words[slot])
	s.Words[slot] = w
	if !vacant {
		return
	}
	if before, ok := s.Push(slot, slot, 1); ok {
		s.Words[before] |= Link(slot)
	}
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
		*w = handle.FreeBit | (*w&^rowMask + oneGeneration) | Link(slots[i+1])
	}
	tail := slots[len(slots)-1]
	words[tail] = handle.FreeBit | (words[tail]&^rowMask + oneGeneration)
	if before, ok := s.Push(slots[0], tail, len(slots)); ok {
		words[before] |= Link(slots[0])
	}
}
