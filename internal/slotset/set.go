package slotset

import (
	"slices"

	"handloom/handle"
)

// Slot is a position in the sparse set and Row a position in the dense set. Different types
// prevent confusion.
type (
	Slot uint32
	Row  uint32
)

// NoRow is the row of a handle that names no item.
const NoRow Row = 1<<32 - 1

// IndexMask selects the slot and the free bit of a handle. With the free bit set the index
// is beyond every sparse set.
const IndexMask = 1<<63 | 1<<32 - 1

// UpperHalf selects free bit, typeId and generation.
const UpperHalf handle.ID = 1<<64 - 1<<32

const (
	rowMask        handle.ID = 1<<32 - 1
	oneGeneration  handle.ID = 1 << 32
	generationMask handle.ID = 1<<48 - 1<<32
)

// Set is the sparse set of a packed map: all words in one array. The zero Set is empty,
// with typeId 0 and MinFree 0. One goroutine at a time may use it.
type Set struct {
	// Words is exported for the map's lookups, which have to inline, and for single inserts
	// and erases, where a call costs more than the work (op=insert, op=erase).
	Words []handle.ID

	Freelist
}

func (s *Set) Live() int  { return s.Freelist.Live(len(s.Words)) }
func (s *Set) Slots() int { return len(s.Words) }

// Lookup returns the row of the item of id. It is the only rule of validity.
func (s *Set) Lookup(id handle.ID) (Row, bool) {
	if i := uint64(id) & IndexMask; i < uint64(len(s.Words)) {
		if w := s.Words[i]; (w^id)>>32 == 0 {
			return Row(w), true
		}
	}
	return 0, false
}

// Lookahead is the number of handles whose rows are found in one loop, and then whose items
// are read. Each loop does nothing else, so that the cache misses of different handles
// overlap (op=putflush, op=sparseflush).
const Lookahead = 64

// Block returns the first handles of ids, at most [Lookahead].
func Block(ids []handle.ID) []handle.ID { return ids[:min(Lookahead, len(ids))] }

// LookupAll sets rows[i] to the row of the item of ids[i], or to [NoRow].
func (s *Set) LookupAll(ids []handle.ID, rows []Row) {
	rows = rows[:len(ids)]
	for i, id := range ids {
		rows[i] = NoRow
		if row, ok := s.Lookup(id); ok {
			rows[i] = row
		}
	}
}

func (s *Set) Handle(slot Slot) handle.ID { return s.Words[slot]&^rowMask | handle.ID(slot) }

// Held returns the word of id's slot as a handle, for messages, or null if the slot does
// not exist.
func (s *Set) Held(id handle.ID) handle.ID {
	if uint64(id.Slot()) >= uint64(len(s.Words)) {
		return 0
	}
	return s.Handle(Slot(id.Slot()))
}

func (s *Set) SetRow(slot Slot, row Row) {
	w := &s.Words[slot]
	*w = *w&^rowMask | handle.ID(row)
}

// Grow makes capacity for n words in total.
func (s *Set) Grow(n int) {
	s.setWidths()
	if old := s.Words; n > cap(old) {
		// make followed by copy avoids zeroing the copied part (op=create).
		grown := make([]handle.ID, n)
		copy(grown, old)
		s.Words = grown[:len(old)]
	}
}

func (s *Set) Shrink() {
	s.ShrinkRing()
	s.Words = slices.Clip(append([]handle.ID(nil), s.Words...))
}

// Drop requires [Freelist.CanDrop].
func (s *Set) Drop() {
	s.Freelist.Drop()
	s.Words = nil
}
