package slotset

import (
	"handloom/shard/handle"
)

// Freelist is what both maps know of their slots but for the words: the ends of
// the freelist, counts, limits and generations. Its methods say what a word
// becomes when its slot is issued or vacated; where the words are, the caller
// knows: [Set] or the stable map. The zero Freelist has typeId 0 and holds no
// slot back.
type Freelist struct {
	// Next is not 0 when new slots have been issued and no vacant one would be
	// issued next: it is the upper half of the handle of the next new slot. It
	// is exported for the maps' inserts, which issue that slot themselves if
	// there is room (op=insert).
	Next handle.ID

	typeID   handle.ID // the typeId in its place within a word
	ring     []Slot    // the vacant slots by their tickets (F1, F2)
	base     uint64    // ticket of the slot that is first in the ring, or would be
	front    uint64    // ticket of the slot that is issued next
	back     uint64    // ticket that is drawn next: as many slots as from front to here are vacant
	depleted uint32
	minFree  uint32 // vacant slots held back from reuse
	limit    uint32 // of slots; 0 until the first growth
	highest  uint16 // generation ever issued
	floor    uint16 // new slots begin above this generation
	last     uint16 // generation after which a slot is depleted; 0 until the first growth
}

// Init sets the typeId of the handles to issue and the number of vacant slots
// to hold back from reuse. It must come before the first slot.
func (s *Freelist) Init(typeID uint16, minFree uint32) {
	s.typeID = handle.New(typeID, 0, 0)
	s.minFree = minFree
}

// setWidths takes the field widths when the first slot is about to be made, so
// that the zero Freelist needs no constructor.
func (s *Freelist) setWidths() {
	if s.last == 0 {
		s.last, s.limit = LastGeneration(), SlotLimit()
	}
}

// TypeID returns the typeId of the handles that are issued.
func (s *Freelist) TypeID() uint16 { return s.typeID.TypeID() }

// Vacant and Depleted count slots; with the live ones they sum to all (S3).
func (s *Freelist) Vacant() int   { return int(s.vacant()) }
func (s *Freelist) Depleted() int { return int(s.depleted) }

func (s *Freelist) vacant() uint32 { return uint32(s.back - s.front) }

// Live returns how many of the slots are live.
func (s *Freelist) Live(slots int) int { return slots - int(s.vacant()) - int(s.depleted) }

// Limit returns the number of slots there may be.
func (s *Freelist) Limit() uint64 {
	s.setWidths()
	return uint64(s.limit)
}

// MayDeplete reports whether a slot may be at its last generation.
func (s *Freelist) MayDeplete() bool { return s.highest >= s.last }

// IsLast reports whether vacating the live slot that id names would deplete it.
func (s *Freelist) IsLast(id handle.ID) bool { return id.Generation() == s.last }

// CanReuse reports whether the next slot to be issued is a vacant one, however
// near the slot limit is.
func (s *Freelist) CanReuse() bool { return s.vacant() > s.minFree }

// Fresh returns the upper half of the handles of new slots.
func (s *Freelist) Fresh() handle.ID {
	if s.highest <= s.floor {
		s.highest = s.floor + 1
	}
	return s.typeID | handle.ID(s.floor)<<32 + oneGeneration
}

// NextFresh is Fresh when no vacant slot is to be issued before the next new one
// either, unless one is pushed: it sets Next.
func (s *Freelist) NextFresh() handle.ID {
	upper := s.Fresh()
	if !s.CanReuse() {
		s.Next = upper
	}
	return upper
}

// Pop takes the front slot, whose word is w, off the freelist and returns the
// upper half of the handle it is issued with.
func (s *Freelist) Pop(w handle.ID) handle.ID {
	s.popped(1)
	upper := w &^ (handle.FreeBit | rowMask)
	if g := upper.Generation(); g > s.highest {
		s.highest = g
	}
	return upper
}

// Retire ends the life of the item in a live slot, one of slots, whose word is w.
// The slot joins the back of the freelist, or it is depleted. Retire returns what
// the word becomes.
func (s *Freelist) Retire(slot Slot, w handle.ID, slots int) handle.ID {
	if w.Generation() == s.last {
		// Reusing the slot would need a generation that was already handed
		// out, and an old handle would then name the new item. One slot is
		// cheaper.
		s.depleted++
		return handle.FreeBit | s.typeID
	}
	if int(s.vacant()) == len(s.ring) {
		s.GrowRing(1, slots)
	}
	ticket := s.back
	s.ring[s.at(ticket)] = slot
	s.pushed(1)
	return retired(w, uint32(ticket))
}

// retired returns what the word w of a live slot, which is not at its last generation,
// becomes with a ticket: all bits of the row set and one more are one generation more.
func retired(w handle.ID, ticket uint32) handle.ID {
	return (w | rowMask) + (handle.FreeBit + 1) + handle.ID(ticket)
}

// CanDrop reports whether the slots may be dropped: while the highest
// generation ever issued is in the lower half of all generations, there are
// enough left above it for new slots.
func (s *Freelist) CanDrop() bool {
	return uint32(s.highest) < (uint32(s.last)+1)/2 || s.highest == 0
}

// Drop forgets every slot. New slots begin above the highest generation ever
// issued, so that handles from before stay stale.
func (s *Freelist) Drop() {
	s.floor = s.highest
	s.ring, s.base, s.front, s.Next = nil, s.back, s.back, 0
}
