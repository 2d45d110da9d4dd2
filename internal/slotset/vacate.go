package slotset

// Vacate vacates a live slot: its generation rises and it joins the back of the freelist,
// or it is depleted.
func (s *Set) Vacate(slot Slot) {
	s.Words[slot] = s.Retire(slot, s.Words[slot], len(s.Words))
}

// VacateAll vacates slots, which are all live slots, in this order. The set takes the
// array; VacateAll returns an array for other slots, which may be smaller, or the same.
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

// vacateRun vacates live slots with consecutive tickets. None can be depleted, so no slot
// needs a decision (op=clear).
func (s *Set) vacateRun(slots []Slot, ticket uint32) {
	words := s.Words
	for _, slot := range slots {
		words[slot] = retired(words[slot], ticket)
		ticket++
	}
}
