package sparse

import (
	"slices"

	"handloom/internal/narrow"
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

const (
	rowMask       handle.ID = 1<<32 - 1
	oneGeneration handle.ID = 1 << 32
)

// Set is the sparse set of one map. The zero Set is empty, has typeId 0 and
// holds no slot back. One goroutine at a time may use it.
type Set struct {
	// Words are the slot words. They are exported for the maps' lookups, which
	// have to inline; only this package writes them.
	Words []handle.ID

	typeID   handle.ID // the typeId in its place within a word
	front    link      // of the freelist (F1)
	back     link
	vacant   uint32
	depleted uint32
	minFree  uint32 // vacant slots held back from reuse
	limit    uint32 // of slots; 0 until the first growth
	highest  uint16 // generation ever issued
	floor    uint16 // new slots begin above this generation
	last     uint16 // generation after which a slot is depleted; 0 until the first growth
}

// link is slot+1; 0 is none.
type link uint32

// Init sets the typeId of the handles to issue and the number of vacant slots
// to hold back from reuse. It may be called on an empty Set only.
func (s *Set) Init(typeID uint16, minFree uint32) {
	s.typeID = handle.New(typeID, 0, 0)
	s.minFree = minFree
}

// setWidths takes the field widths when the first slot is about to be made, so
// that the zero Set needs no constructor.
func (s *Set) setWidths() {
	if s.last == 0 {
		s.last, s.limit = narrow.LastGeneration, narrow.SlotLimit
	}
}

// TypeID returns the typeId of the handles the set issues.
func (s *Set) TypeID() uint16 { return s.typeID.TypeID() }

// Live, Vacant, Depleted and Slots count slots; the first three sum to the
// fourth (S3).
func (s *Set) Live() int     { return len(s.Words) - int(s.vacant) - int(s.depleted) }
func (s *Set) Vacant() int   { return int(s.vacant) }
func (s *Set) Depleted() int { return int(s.depleted) }
func (s *Set) Slots() int    { return len(s.Words) }

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

// SetRow tells a live slot that its item moved to row.
func (s *Set) SetRow(slot Slot, row Row) {
	w := &s.Words[slot]
	*w = *w&^rowMask | handle.ID(row)
}

// Clone returns a copy that evolves as the original would: freelist order,
// generations, floor and depletion included.
func (s *Set) Clone() Set {
	clone := *s
	clone.Words = slices.Clip(append([]handle.ID(nil), s.Words...)) // capacity counts as room below the limit
	return clone
}
