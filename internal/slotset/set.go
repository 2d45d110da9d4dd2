package slotset

import (
	"slices"

	"handloom/shard/handle"
)

// Slot is a position in the sparse set; Row a position in the dense set. They
// are different types so that the compiler refuses one for the other.
type (
	Slot uint32
	Row  uint32
)

// IndexMask takes the slot out of a handle and keeps the free bit, so that a
// handle with that bit set is beyond the length of any sparse set.
const IndexMask = 1<<63 | 1<<32 - 1

// UpperHalf takes free bit, typeId and generation out of a word or handle.
const UpperHalf handle.ID = 1<<64 - 1<<32

const (
	rowMask        handle.ID = 1<<32 - 1
	oneGeneration  handle.ID = 1 << 32
	generationMask handle.ID = 1<<48 - 1<<32
)

// Set is the sparse set of a packed map: all words in one array. The zero Set
// is empty, has typeId 0 and holds no slot back. One goroutine at a time may use
// it.
type Set struct {
	// Words are the slot words. They are exported for the map's lookups, which
	// have to inline, and for the inserts and erases that write a word themselves
	// where a call costs more than the work (op=insert, op=erase); the rest is
	// written here.
	Words []handle.ID

	Freelist
}

// Live and Slots count slots: the live ones, and all of them.
func (s *Set) Live() int  { return s.Freelist.Live(len(s.Words)) }
func (s *Set) Slots() int { return len(s.Words) }

// Lookup returns the row of the item that id names. No other rule decides
// validity anywhere.
func (s *Set) Lookup(id handle.ID) (Row, bool) {
	if i := uint64(id) & IndexMask; i < uint64(len(s.Words)) {
		if w := s.Words[i]; (w^id)>>32 == 0 {
			return Row(w), true
		}
	}
	return 0, false
}

// Handle returns the handle of the item in a live slot.
func (s *Set) Handle(slot Slot) handle.ID {
	return s.Words[slot]&^rowMask | handle.ID(slot)
}

// Held returns what the slot that id points at holds: its word with the slot in
// place of the row, or the null handle when there is no such slot. It serves
// messages.
func (s *Set) Held(id handle.ID) handle.ID {
	if uint64(id.Slot()) >= uint64(len(s.Words)) {
		return 0
	}
	return s.Handle(Slot(id.Slot()))
}

// SetRow tells a live slot that its item moved to row.
func (s *Set) SetRow(slot Slot, row Row) {
	w := &s.Words[slot]
	*w = *w&^rowMask | handle.ID(row)
}

// Grow makes capacity for n words in all, and never less than there is. Slots
// do not change.
func (s *Set) Grow(n int) {
	s.setWidths()
	if old := s.Words; n > cap(old) {
		// Made and copied to at once, what is copied to is not zeroed before (op=create).
		grown := make([]handle.ID, n)
		copy(grown, old)
		s.Words = grown[:len(old)]
	}
}

// Shrink gives back capacity beyond the slots, and beyond the vacant ones.
func (s *Set) Shrink() {
	s.ShrinkRing()
	s.Words = slices.Clip(append([]handle.ID(nil), s.Words...))
}

// Drop forgets every slot, where [Freelist.CanDrop] allows it.
func (s *Set) Drop() {
	s.Freelist.Drop()
	s.Words = nil
}
