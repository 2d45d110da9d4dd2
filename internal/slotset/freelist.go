package slotset

import (
	"handloom/handle"
)

// Freelist is the state of the slots except the words, which [Set] or the stable map
// stores. Its methods compute new words.
type Freelist struct {
	// Next is the upper half of the handle of the next new slot if there is one and no
	// vacant slot goes first; else 0. Inserts of the maps read it to issue the slot
	// themselves (op=insert).
	Next handle.ID

	typeID   handle.ID
	ring     []Slot
	base     uint64 // ticket of the first position in the ring
	lap      uint64 // the same for tickets from the last Retire to edge, which wrap no more
	edge     uint64 // Retire looks at the ring from this ticket on (F4)
	front    uint64 // ticket of the next slot to issue
	back     uint64 // next ticket; back-front slots are vacant
	depleted uint32
	minFree  uint32
	limit    uint32 // maximum number of slots; 0 until the first growth
	highest  uint16 // highest generation issued
	floor    uint16 // new slots begin above this generation
	last     uint16 // last generation of a slot; 0 until the first growth
}

// Init must precede the first slot.
func (s *Freelist) Init(typeID uint16, minFree uint32) {
	s.typeID = handle.New(typeID, 0, 0)
	s.minFree = minFree
}

func (s *Freelist) setWidths() {
	if s.last == 0 {
		s.last, s.limit = LastGeneration(), SlotLimit()
	}
}

func (s *Freelist) TypeID() uint16 { return s.typeID.TypeID() }

// Vacant and Depleted return numbers of slots; with the live slots they sum to all (S3).
func (s *Freelist) Vacant() int   { return int(s.vacant()) }
func (s *Freelist) Depleted() int { return int(s.depleted) }

func (s *Freelist) vacant() uint32 { return uint32(s.back - s.front) }

func (s *Freelist) Live(slots int) int { return slots - int(s.vacant()) - int(s.depleted) }

func (s *Freelist) Limit() uint64 {
	s.setWidths()
	return uint64(s.limit)
}

// MayDeplete reports whether a slot may be at its last generation.
func (s *Freelist) MayDeplete() bool { return s.highest >= s.last }

// IsLast reports whether vacating the slot of id depletes it.
func (s *Freelist) IsLast(id handle.ID) bool { return id.Generation() == s.last }

// CanReuse reports whether the next slot to issue is vacant, regardless of the slot limit.
func (s *Freelist) CanReuse() bool { return s.vacant() > s.minFree }

func (s *Freelist) Fresh() handle.ID {
	if s.highest <= s.floor {
		s.highest = s.floor + 1
	}
	return s.typeID | handle.ID(s.floor)<<32 + oneGeneration
}

// NextFresh is Fresh and sets Next if the following slot will also be new.
func (s *Freelist) NextFresh() handle.ID {
	upper := s.Fresh()
	if !s.CanReuse() {
		s.Next = upper
	}
	return upper
}

// Pop takes the front slot, with the word w, and returns the upper half of its new handle.
func (s *Freelist) Pop(w handle.ID) handle.ID {
	s.popped(1)
	upper := w &^ (handle.FreeBit | rowMask)
	if g := upper.Generation(); g > s.highest {
		s.highest = g
	}
	return upper
}

// Retire vacates or depletes the slot, one of slots, with the word w, and returns its new
// word.
func (s *Freelist) Retire(slot Slot, w handle.ID, slots int) handle.ID {
	if w.Generation() == s.last {
		// Reuse would need an issued generation, and an old handle would name the new item.
		// One lost slot is cheaper.
		s.depleted++
		return handle.FreeBit | s.typeID
	}
	if int(s.vacant()) == len(s.ring) {
		s.GrowRing(1, slots)
	}
	ticket := s.back
	at := s.at(ticket)
	s.ring[at] = slot
	s.lap = ticket - uint64(at)
	s.edge = min(s.lap, s.front) + uint64(len(s.ring))
	s.pushed(1)
	return retired(w, uint32(ticket))
}

// retired returns the vacant word for the live word w, which is not at its last generation.
// Adding one to a word with all row bits set increments the generation.
func retired(w handle.ID, ticket uint32) handle.ID {
	return (w | rowMask) + (handle.FreeBit + 1) + handle.ID(ticket)
}

// CanDrop reports whether the slots may be dropped: if the highest generation issued is in
// the lower half, enough generations remain above it for new slots.
func (s *Freelist) CanDrop() bool {
	return uint32(s.highest) < (uint32(s.last)+1)/2 || s.highest == 0
}

// Drop drops every slot. New slots begin above the highest generation issued, so that old
// handles stay stale.
func (s *Freelist) Drop() {
	s.floor = s.highest
	s.ring, s.base, s.edge, s.front, s.Next = nil, s.back, 0, s.back, 0
}
