package slotset

import (
	"fmt"

	"handloom/handle"
)

// Verify checks all slots and the freelist and returns an error that cites the first
// violation. It calls live for every live slot with its row and stops at its error. It
// takes O(slots) time and memory.
func (s *Set) Verify(live func(Slot, Row) error) error {
	return s.VerifyWords(len(s.Words), func(slot Slot) handle.ID { return s.Words[slot] }, live)
}

// VerifyWords is [Set.Verify] for the words that word returns.
func (s *Freelist) VerifyWords(slots int, word func(Slot) handle.ID, live func(Slot, Row) error) error {
	var vacant, depleted uint32
	for i := range slots {
		w := word(Slot(i))
		switch {
		case w.TypeID() != s.TypeID():
			return fmt.Errorf("S3: slot %d carries typeId %d, not %d", i, w.TypeID(), s.TypeID())
		case !w.IsProvisional():
			if g := w.Generation(); g <= s.floor || g > s.highest {
				return fmt.Errorf("G1: live slot %d has generation %d, outside %d..%d", i, g, s.floor+1, s.highest)
			}
			if err := live(Slot(i), Row(w)); err != nil {
				return err
			}
		case w.Generation() == 0:
			depleted++
			if w&rowMask != 0 {
				return fmt.Errorf("G2: depleted slot %d has ticket %d", i, w&rowMask)
			}
		default:
			vacant++
			if g := w.Generation() - 1; g <= s.floor || g > s.highest || g >= s.last {
				return fmt.Errorf("G1: vacant slot %d was last issued at generation %d, outside %d..%d and below %d",
					i, g, s.floor+1, s.highest, s.last)
			}
		}
	}
	if vacant != s.vacant() || depleted != s.depleted {
		return fmt.Errorf("S3: %d vacant and %d depleted slots, but the counts say %d and %d",
			vacant, depleted, s.vacant(), s.depleted)
	}
	if upper := s.typeID | handle.ID(s.floor)<<32 + oneGeneration; s.Next != 0 && (s.CanReuse() || s.Next != upper) {
		return fmt.Errorf("G3: the next slot would be a new one with handle %v, not %v; %d vacant", s.Next, upper, s.vacant())
	}
	return s.verifyList(slots, word)
}

// verifyList checks F1 to F4. The vacant slots were counted and no two slots have one
// ticket, so the ring has all of them.
func (s *Freelist) verifyList(slots int, word func(Slot) handle.ID) error {
	if room := uint64(len(s.ring)); s.back-s.front > room || s.front-s.base > room {
		return fmt.Errorf("F1: %d vacant slots from place %d of a ring of %d", s.vacant(), s.front-s.base, room)
	}
	for i := range s.vacant() {
		ticket := s.front + uint64(i)
		slot := s.ring[s.at(ticket)]
		if int64(slot) >= int64(slots) {
			return fmt.Errorf("F2: number %d on the freelist is slot %d of %d", i, slot, slots)
		}
		if w := word(slot); !w.IsProvisional() || w.Generation() == 0 || uint32(w) != uint32(ticket) {
			return fmt.Errorf("F2: number %d on the freelist, of ticket %d, is slot %d (word %v, ticket %d)",
				i, ticket, slot, w, uint32(w))
		}
	}
	if room := uint64(len(s.ring)); s.back < s.edge && (s.edge > min(s.front, s.lap)+room || int(s.back-s.lap) != s.at(s.back)) {
		return fmt.Errorf("F4: edge %d and lap %d of a ring of %d, with the tickets %d to %d", s.edge, s.lap, room, s.front, s.back)
	}
	return nil
}
