package slotset

import (
	"math/bits"

	"handloom/shard/handle"
)

// Handles is a set of handles of one map, kept by slot: adding one takes the place
// of an older handle of its slot. Rows may move and items be erased meanwhile, the set
// does not have to know: a handle of an item that is gone names none. Adding takes
// O(1); walking and emptying a set of k handles below n slots take O(k + n/4096). The
// zero Handles is empty and holds nothing until [Handles.Grow].
type Handles struct {
	slots       Bits
	generations []uint16 // by slot, of those in slots
}

// Grow makes room for the slots below n. What is in the set stays.
func (s *Handles) Grow(n int) {
	s.slots.Grow(n)
	if n > len(s.generations) {
		grown := make([]uint16, max(n, len(s.generations)*3/2))
		copy(grown, s.generations)
		s.generations = grown
	}
}

// Add adds a handle, whose slot is below the n of [Handles.Grow].
func (s *Handles) Add(id handle.ID) {
	slot := id.Slot()
	s.slots.Add(int(slot))
	s.generations[slot] = id.Generation()
}

// Has reports whether the set has a handle; any may be asked for.
func (s *Handles) Has(id handle.ID) bool {
	slot := id.Slot()
	return s.slots.Has(int(slot)) && s.generations[slot] == id.Generation()
}

// Len returns how many handles the set has.
func (s *Handles) Len() int { return s.slots.Count() }

// All calls yield for each handle, with the typeId that they all have, in the order of
// slots, until it says false.
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

// Clear empties the set and keeps its memory.
func (s *Handles) Clear() { s.slots.Clear() }
