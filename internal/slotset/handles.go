package slotset

import (
	"math/bits"

	"handloom/handle"
)

// Handles is a set of handles of one map, at most one per slot: Add replaces an older
// handle of the slot. The map may change meanwhile, even to fewer slots. It has the costs of
// [Bits] and grows as needed.
type Handles struct {
	slots       Bits
	generations []uint16 // by slot, valid for members of slots
}

// Grow makes room for slots below n.
func (s *Handles) Grow(n int) {
	if n > len(s.generations) {
		grown := make([]uint16, max(n, len(s.generations)*3/2))
		copy(grown, s.generations)
		s.generations = grown
		s.slots.Grow(len(grown))
	}
}

func (s *Handles) Add(id handle.ID) {
	slot := id.Slot()
	if int(slot) >= len(s.generations) {
		s.Grow(int(slot) + 1)
	}
	s.slots.Add(int(slot))
	s.generations[slot] = id.Generation()
}

func (s *Handles) Has(id handle.ID) bool {
	slot := id.Slot()
	return s.slots.Has(int(slot)) && s.generations[slot] == id.Generation()
}

func (s *Handles) Len() int { return s.slots.Count() }

func (s *Handles) All(typeID uint16, yield func(id handle.ID) bool) {
	for base, word := range s.slots.Words {
		for ; word != 0; word &= word - 1 {
			slot := uint32(base + bits.TrailingZeros64(word))
			if !yield(handle.New(typeID, s.generations[slot], slot)) {
				return
			}
		}
	}
}

func (s *Handles) Clear() { s.slots.Clear() }
