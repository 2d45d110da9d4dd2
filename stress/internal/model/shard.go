package model

import "slices"

// slot is one slot of a shard.
type slot struct {
	generation uint16 // of the item, or of the next one; 0: depleted
	live       bool
	row        int // of a live one in a packed map
	item       Item
}

// shard is one map, packed or stable, as the documents describe it.
type shard struct {
	*limits
	typeID  uint16
	stable  bool
	minFree int
	max     int

	slots   []slot
	rows    []uint32 // slots by row; of a packed map only
	free    []uint32 // vacant slots, oldest first
	live    int
	floor   uint16 // new slots begin above it
	highest uint16 // generation ever issued
}

// limits are the widths of the handle fields.
type limits struct {
	last  uint16 // generation
	slots uint64
	seen  *Counters
}

// find returns the slot of the item that a handle names.
func (s *shard) find(id uint64) (uint32, bool) {
	n := uint64(uint32(id))
	if isProvisional(id) || typeIDOf(id) != s.typeID || n >= uint64(len(s.slots)) {
		return 0, false
	}
	at := &s.slots[n]
	return uint32(n), at.live && at.generation == uint16(id>>32)
}

func (s *shard) handle(n uint32) uint64 {
	return uint64(s.typeID)<<48 | uint64(s.slots[n].generation)<<32 | uint64(n)
}

// rowCount is how many rows a pass steps through: in a stable map a row is a
// slot, whatever became of its item.
func (s *shard) rowCount() int {
	if s.stable {
		return len(s.slots)
	}
	return len(s.rows)
}

// order returns the slots with items from row lo to before row hi, by row.
func (s *shard) order(lo, hi int) []uint32 {
	if !s.stable {
		return s.rows[lo:hi]
	}
	var all []uint32
	for n := lo; n < hi; n++ {
		if s.slots[n].live {
			all = append(all, uint32(n))
		}
	}
	return all
}

// full says why n more items do not fit once erased of them are gone and
// depleting of their slots depleted, or nothing.
func (s *shard) full(n, erased, depleting int) (Seen, bool) {
	vacant := len(s.free) + erased - depleting
	room := uint64(vacant) + s.limits.slots - uint64(len(s.slots))
	switch {
	case s.max > 0 && s.live-erased+n > s.max:
		return ItemLimit, true
	case uint64(n) > room+uint64(depleting):
		return SlotLimit, true
	case uint64(n) > room:
		return SlotLimitDepleting, true
	}
	return 0, false
}

// issue makes an item, which fits, and returns its handle.
func (s *shard) issue(item Item) uint64 {
	var n uint32
	atLimit := uint64(len(s.slots)) == s.limits.slots
	if len(s.free) > s.minFree || atLimit {
		if len(s.free) <= s.minFree {
			s.seen.See(GaveWay)
		}
		n, s.free = s.free[0], s.free[1:]
	} else {
		if len(s.free) > 0 {
			s.seen.See(HoldBack)
		}
		if s.floor > 0 {
			s.seen.See(AboveFloor)
		}
		n = uint32(len(s.slots))
		s.slots = append(s.slots, slot{generation: s.floor + 1})
	}
	at := &s.slots[n]
	at.live, at.item, at.row = true, item, len(s.rows)
	s.highest = max(s.highest, at.generation)
	s.live++
	if !s.stable {
		s.rows = append(s.rows, n)
	}
	return s.handle(n)
}

// vacate ends the life of an item, but for its row.
func (s *shard) vacate(n uint32) {
	at := &s.slots[n]
	at.live, at.item = false, Item{}
	s.live--
	if at.generation == s.last {
		at.generation = 0
		s.seen.See(Depletion)
		return
	}
	at.generation++
	s.free = append(s.free, n)
}

// erase removes one item: the last row takes its place.
func (s *shard) erase(n uint32) {
	if !s.stable {
		row, end := s.slots[n].row, len(s.rows)-1
		if row == end {
			s.seen.See(RemoveLast)
		}
		if end == 0 {
			s.seen.See(RemoveOnly)
		}
		s.place(row, s.rows[end])
		s.rows = s.rows[:end]
	}
	s.vacate(n)
}

func (s *shard) place(row int, n uint32) {
	s.rows[row] = n
	s.slots[n].row = row
}

// eraseSet removes a set of items: the gaps below the new length take the items
// that stay at or above it, both ascending; the slots are freed in the order of
// the rows they had.
func (s *shard) eraseSet(set map[uint32]bool) {
	if len(set) == 0 {
		return
	}
	if s.stable {
		for n := range s.slots {
			if set[uint32(n)] {
				s.vacate(uint32(n))
			}
		}
		return
	}
	if set[s.rows[len(s.rows)-1]] {
		s.seen.See(RemoveLast)
	}
	left := len(s.rows) - len(set)
	var stay []uint32
	for _, n := range s.rows[left:] {
		if !set[n] {
			stay = append(stay, n)
		}
	}
	before := slices.Clone(s.rows)
	for row, n := range s.rows[:left] {
		if set[n] {
			s.place(row, stay[0])
			stay = stay[1:]
		}
	}
	s.rows = s.rows[:left]
	for _, n := range before {
		if set[n] {
			s.vacate(n)
		}
	}
}

// clear removes every item, in the order of rows.
func (s *shard) clear() {
	for _, n := range slices.Clone(s.order(0, s.rowCount())) {
		s.vacate(n)
	}
	s.rows = s.rows[:0]
}

// reset removes every item and, while at most half of the generations were ever
// issued, every slot.
func (s *shard) reset() {
	if uint32(s.highest) >= (uint32(s.last)+1)/2 {
		s.seen.See(ResetCleared)
		s.clear()
		return
	}
	if len(s.slots) > 0 {
		s.seen.See(ResetDropped)
	}
	s.slots, s.rows, s.free, s.live, s.floor = nil, nil, nil, 0, s.highest
}

func (s *shard) depleted() int {
	n := 0
	for i := range s.slots {
		if !s.slots[i].live && s.slots[i].generation == 0 {
			n++
		}
	}
	return n
}

func (s *shard) clone() *shard {
	c := *s
	c.slots, c.rows, c.free = slices.Clone(s.slots), slices.Clone(s.rows), slices.Clone(s.free)
	return &c
}
