package sparse

import (
	"handloom/shard/handle"
)

// Vacate ends the life of the item in a live slot: the slot's generation rises
// and the slot joins the back of the freelist, or it is depleted.
func (s *Set) Vacate(slot Slot) {
	s.Words[slot] = s.Retire(slot, s.Words[slot], len(s.Words))
}

// VacateAll vacates the live slots in the order given, which is every live
// slot of the set.
func (s *Set) VacateAll(slots []Slot) {
	if s.highest >= s.last {
		for _, slot := range slots {
			s.Vacate(slot)
		}
		return
	}
	s.vacateRun(slots, s.pushAll(slots, len(s.Words)))
}

// vacateRun vacates live slots whose tickets follow one another from ticket on. None can be
// depleted, so that nothing is decided per slot (op=clear).
func (s *Set) vacateRun(slots []Slot, ticket uint32) {
	words := s.Words
	for i, slot := range slots {
		w := &words[slot]
		*w = handle.FreeBit | (*w&^rowMask + oneGeneration) | handle.ID(ticket+uint32(i))
	}
}
