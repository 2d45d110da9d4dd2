package paged

import (
	"fmt"
	"math"

	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// CanInsert reports whether n more items fit the map once erased of its items
// are gone, without changing anything: nil, or an error that wraps [handle.ErrFull].
// depleting of the erased ones are at their last generation, so that their
// slots do not come back.
func (s *Set) CanInsert(n, erased, depleting int) error {
	return s.list.CanInsert(s.slots, n, erased, depleting, s.maxItems)
}

// makeRoom checks the limits for n more items and makes the pages that they
// need.
func (s *Set) makeRoom(n int) error {
	if err := s.CanInsert(n, 0, 0); err != nil {
		return err
	}
	s.grow(n)
	return nil
}

// HasRoom reports whether n more items fit the pages there are. It takes O(1)
// time, O(n) after [Set.Shrink] gave back pages.
func (s *Set) HasRoom(n int) bool {
	if n > s.issuable() || s.slots+s.fresh(n) > s.room {
		return false
	}
	room := true
	if s.released > 0 {
		s.peek(n, func(_ int, id handle.ID) {
			room = room && !s.isReleased(int(id.Slot()>>s.shift))
		})
	}
	return room
}

// Reserve makes room for n items in all, so that inserts up to there make no
// page. It moves no item and changes capacity only, never slots; more than the
// map may hold is taken as what it may hold. A negative n panics.
func (s *Set) Reserve(n int) {
	s.guard("Reserve")
	if n < 0 {
		panic(fmt.Sprintf("slotmap: Reserve of %d items; n must not be negative", n))
	}
	if s.maxItems > 0 {
		n = min(n, s.maxItems)
	}
	s.reserve(n - s.Len())
}

// ReserveMore makes room for n more items; beyond what the map may hold it
// makes none. It moves no item and changes capacity only, never slots. A
// negative n panics.
func (s *Set) ReserveMore(n int) {
	s.guard("ReserveMore")
	if n < 0 {
		panic(fmt.Sprintf("slotmap: ReserveMore of %d items; n must not be negative", n))
	}
	s.reserve(n)
}

func (s *Set) reserve(n int) {
	if s.maxItems > 0 {
		n = min(n, s.maxItems) // in full: items may be erased before these come, and their slots be depleted
	}
	if n = min(n, s.issuable()); n > 0 {
		s.grow(n)
	}
}

// issuable returns how many more items slots allow.
func (s *Set) issuable() int {
	return int(min(s.list.Limit()-uint64(s.Len())-uint64(s.list.Depleted()), math.MaxInt))
}

// fresh returns how many new slots the next n inserts make.
func (s *Set) fresh(n int) int {
	_, fresh, _ := s.list.Split(s.slots, n)
	return fresh
}

// peek calls f with the handles that the next n inserts will give.
func (s *Set) peek(n int, f func(i int, id handle.ID)) {
	s.list.Peek(s.slots, n, func(slot slotset.Slot) handle.ID { return *s.word(slot) }, f)
}

// grow makes the pages that the next n inserts need, which the limits allow.
func (s *Set) grow(n int) {
	if slots := s.slots + s.fresh(n); slots > s.room {
		s.addPages(slots)
	}
	if s.released > 0 {
		s.peek(n, func(_ int, id handle.ID) { s.restore(int(id.Slot() >> s.shift)) })
	}
}

// addPages makes the pages missing for so many slots.
func (s *Set) addPages(slots int) {
	if len(s.pages) == 0 {
		s.shape()
	}
	for len(s.pages)<<s.shift < slots {
		s.pages = append(s.pages, s.newPage(len(s.pages), true))
	}
	s.live.Grow(len(s.pages) << s.shift)
	s.setRoom()
}

// shape says how large pages are, before the first.
func (s *Set) shape() {
	s.shift = pageShift(s.typ.Size)
	s.mask = 1<<s.shift - 1
}

// usedPages returns how many pages have slots that were issued.
func (s *Set) usedPages() int { return (s.slots + 1<<s.shift - 1) >> s.shift }

func (s *Set) setRoom() {
	s.room = int(min(uint64(len(s.pages))<<s.shift, s.list.Limit()))
}
