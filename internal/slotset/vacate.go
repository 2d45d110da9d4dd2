package slotset

// Vacate ends the life of the item in a live slot: the slot's generation rises
// and the slot joins the back of the freelist, or it is depleted.
func (s *Set) Vacate(slot Slot) {
	s.Words[slot] = s.Retire(slot, s.Words[slot], len(s.Words))
}

// VacateAll vacates the live slots in the order given, which is every live slot of the
// set. The array of slots is the set's own from then on; VacateAll returns one for the
// slots of other items, which may be smaller, or the same.
func (s *Set) VacateAll(slots []Slot) []Slot {
	if s.highest >= s.last {
		for _, slot := range slots {
			s.Vacate(slot)
		}
		return slots[:0]
	}
	s.vacateRun(slots, uint32(s.back))
	return s.exchange(slots, len(s.Words))
}

// vacateRun vacates live slots whose tickets follow one another from ticket on. None can be
// depleted, so that nothing is decided per slot (op=clear).
func (s *Set) vacateRun(slots []Slot, ticket uint32) {
	words := s.Words
	for _, slot := range slots {
		words[slot] = retired(words[slot], ticket)
		ticket++
	}
}
