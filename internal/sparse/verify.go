package sparse

import (
	"fmt"

	"handloom/internal/digest"
	"handloom/shard/handle"
)

// Verify walks all slots and the freelist and returns an error that cites the
// first invariant broken. It calls live for every live slot with the row it
// holds and stops at its error. It takes O(slots) time and memory.
func (s *Set) Verify(live func(Slot, Row) error) error {
	return s.VerifyWords(len(s.Words), func(slot Slot) handle.ID { return s.Words[slot] }, live)
}

// VerifyWords is [Set.Verify] for slots whose words word returns.
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
				return fmt.Errorf("G2: depleted slot %d links to slot %d", i, w&rowMask-1)
			}
		default:
			vacant++
			if g := w.Generation() - 1; g <= s.floor || g > s.highest || g >= s.last {
				return fmt.Errorf("G1: vacant slot %d was last issued at generation %d, outside %d..%d and below %d",
					i, g, s.floor+1, s.highest, s.last)
			}
		}
	}
	if vacant != s.vacant || depleted != s.depleted {
		return fmt.Errorf("S3: %d vacant and %d depleted slots, but the counts say %d and %d",
			vacant, depleted, s.vacant, s.depleted)
	}
	if upper := s.typeID | handle.ID(s.floor)<<32 + oneGeneration; s.Next != 0 && (s.CanReuse() || s.Next != upper) {
		return fmt.Errorf("G3: the next slot would be a new one with handle %v, not %v; %d vacant", s.Next, upper, s.vacant)
	}
	return s.verifyList(slots, word)
}

// verifyList checks F1 to F3; that the counted vacant slots are right is known.
func (s *Freelist) verifyList(slots int, word func(Slot) handle.ID) error {
	if (s.front == 0) != (s.vacant == 0) || (s.back == 0) != (s.vacant == 0) {
		return fmt.Errorf("F1: front %d, back %d, length %d", s.front, s.back, s.vacant)
	}
	visited := make([]bool, slots)
	at, walked := link(0), uint32(0)
	for next := s.front; next != 0; {
		if uint64(next) > uint64(slots) {
			return fmt.Errorf("F2: the walk leaves the %d slots for slot %d", slots, next-1)
		}
		w := word(Slot(next - 1))
		if !w.IsProvisional() || w.Generation() == 0 || visited[next-1] {
			return fmt.Errorf("F2: the walk comes to slot %d (word %v), visited before: %t", next-1, w, visited[next-1])
		}
		visited[next-1] = true
		at, next = next, link(w&rowMask)
		walked++
	}
	if walked != s.vacant {
		return fmt.Errorf("F3: the walk visits %d of %d vacant slots", walked, s.vacant)
	}
	if at != s.back {
		return fmt.Errorf("F2: the walk ends at slot %d, but the back is slot %d", at-1, s.back-1)
	}
	return nil
}

// Digest adds slots, generations, floor, freelist order, depletion and MinFree to h.
func (s *Set) Digest(h *digest.Hash) {
	s.DigestWords(h, len(s.Words), func() {
		digest.For[handle.ID]().Items(h, s.Words)
	})
}

// DigestWords is [Set.Digest] for slots whose words words adds to h.
func (s *Freelist) DigestWords(h *digest.Hash, slots int, words func()) {
	h.Uint64(uint64(s.typeID))
	h.Uint64(uint64(slots))
	words()
	h.Uint32(uint32(s.front))
	h.Uint32(uint32(s.back))
	h.Uint32(s.vacant)
	h.Uint32(s.depleted)
	h.Uint16(s.highest)
	h.Uint16(s.floor)
	h.Uint32(s.minFree)
}
