package model

import "slices"

// Rules are the options of a map that decide which slots it issues.
type Rules struct {
	TypeID         uint16
	LastGeneration uint16
	SlotLimit      uint64
	MinFree        int
	MaxItems       int       // 0: no limit
	Seen           *Counters // of rare states; nil: not counted
}

// Slots is the rule by which maps and stores issue and free slots and
// generations.
type Slots struct {
	Rules
	slots    []slot
	free     []uint32
	live     int
	depleted int
}

// A depleted slot is not live and not in free.
type slot struct {
	generation uint16 // generation of the current or next item; 0: depleted
	live       bool
}

// Full returns the reason why n more items do not fit after erased items are
// gone and depleting of their slots are depleted, if any.
func (s *Slots) Full(n, erased, depleting int) (Seen, bool) {
	vacant := len(s.free) + erased - depleting
	// MinFree holds slots back only while others can be made, so it limits nothing here.
	room := uint64(vacant) + s.SlotLimit - uint64(len(s.slots))
	switch {
	case s.MaxItems > 0 && s.live-erased+n > s.MaxItems:
		return ItemLimit, true
	// The reasons differ only in the counters of rare states.
	case uint64(n) > room+uint64(depleting):
		return SlotLimit, true
	case uint64(n) > room:
		return SlotLimitDepleting, true
	}
	return 0, false
}

// issue returns the slot of the next item: the oldest free slot if more than MinFree rest,
// or if no slot is left that was never used; else a new slot.
func (s *Slots) issue() uint32 {
	var n uint32
	atLimit := uint64(len(s.slots)) == s.SlotLimit
	if len(s.free) > s.MinFree || atLimit {
		if len(s.free) <= s.MinFree {
			s.Seen.See(GaveWay)
		}
		n, s.free = s.free[0], s.free[1:]
	} else {
		if len(s.free) > 0 {
			s.Seen.See(HoldBack)
		}
		n = uint32(len(s.slots))
		s.slots = append(s.slots, slot{generation: 1})
	}
	at := &s.slots[n]
	at.live = true
	s.live++
	return n
}

// vacate frees the slot of an item.
func (s *Slots) vacate(n uint32) {
	at := &s.slots[n]
	at.live = false
	s.live--
	// A further generation would repeat a handle (G2, G3).
	if at.generation == s.LastGeneration {
		at.generation = 0
		s.depleted++
		s.Seen.See(Depletion)
		return
	}
	// The generation rises by one per erase (G1).
	at.generation++
	s.free = append(s.free, n)
}

// find returns the slot of a live handle, and false for each stale or forged handle.
func (s *Slots) find(id uint64) (uint32, bool) {
	n := uint64(uint32(id))
	if isProvisional(id) || typeIDOf(id) != s.TypeID || n >= uint64(len(s.slots)) {
		return 0, false
	}
	at := &s.slots[n]
	return uint32(n), at.live && at.generation == uint16(id>>32)
}

// Handle returns the handle of the current or next item of a slot.
func (s *Slots) Handle(n uint32) uint64 {
	return uint64(s.TypeID)<<48 | uint64(s.slots[n].generation)<<32 | uint64(n)
}

// Stats are the numbers of slots by state.
type Stats struct{ Live, Vacant, Depleted, Slots int }

func (s *Slots) Stats() Stats {
	return Stats{Live: s.live, Vacant: len(s.free), Depleted: s.depleted, Slots: len(s.slots)}
}

// copied returns a copy that shares only the counters of rare states.
func (s *Slots) copied() Slots {
	c := *s
	c.slots, c.free = slices.Clone(s.slots), slices.Clone(s.free)
	return c
}
