package slotset

func (s *Set) Vacate(slot Slot) { s.Words[slot] = s.Retire(slot, s.Words[slot], len(s.Words)) }

// VacateAll vacates all live slots in this order. The set keeps the array and returns one
// for other slots.
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

// vacateRun vacates live slots with consecutive tickets, none at its last generation
// (op=clear).
func (s *Set) vacateRun(slots []Slot, ticket uint32) {
	words := s.Words
	for i, slot := range slots {
		words[slot] = retired(words[slot], ticket+uint32(i))
	}
}
