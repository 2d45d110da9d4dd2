package paged

import (
	"fmt"
	"math"

	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// CanInsert returns nil if n more items fit after the removal of erased items, or an error
// that wraps [handle.ErrFull]. depleting of the erased items are at their last generation;
// their slots do not come back. It changes nothing.
func (s *Set) CanInsert(n, erased, depleting int) error {
	return s.list.CanInsert(s.slots, n, erased, depleting, s.maxItems)
}

// makeRoom checks the limits for n more items and makes their pages.
func (s *Set) makeRoom(n int) error {
	if err := s.CanInsert(n, 0, 0); err != nil {
		return err
	}
	s.grow(n)
	return nil
}

// HasRoom reports whether n more items fit without new memory. It takes O(1) time, or O(n)
// after [Set.Shrink] released pages.
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

// Reserve makes room for n items in total, up to the limits of the map, so that inserts up
// to n make no page. It changes only capacity and moves no item. It panics if n is
// negative.
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

// ReserveMore makes room for n more items, up to the limits of the map. It changes only
// capacity and moves no item. It panics if n is negative.
func (s *Set) ReserveMore(n int) {
	s.guard("ReserveMore")
	if n < 0 {
		panic(fmt.Sprintf("slotmap: ReserveMore of %d items; n must not be negative", n))
	}
	s.reserve(n)
}

func (s *Set) reserve(n int) {
	if s.maxItems > 0 {
		n = min(n, s.maxItems) // in full: items may be erased before the inserts and their slots depleted
	}
	if n = min(n, s.issuable()); n > 0 {
		s.grow(n)
	}
}

// issuable returns the number of items that can still be added under the slot limit.
func (s *Set) issuable() int {
	return int(min(s.list.Limit()-uint64(s.Len())-uint64(s.list.Depleted()), math.MaxInt))
}

// fresh returns the number of new slots that the next n inserts make.
func (s *Set) fresh(n int) int {
	_, fresh, _ := s.list.Split(s.slots, n)
	return fresh
}

// peek calls f with the handles of the next n inserts.
func (s *Set) peek(n int, f func(i int, id handle.ID)) {
	s.list.Peek(s.slots, n, func(slot slotset.Slot) handle.ID { return *s.word(slot) }, f)
}

// grow makes the pages for the next n inserts, which the limits allow.
func (s *Set) grow(n int) {
	if slots := s.slots + s.fresh(n); slots > s.room {
		s.addPages(slots)
	}
	if s.released > 0 {
		s.peek(n, func(_ int, id handle.ID) { s.restore(int(id.Slot() >> s.shift)) })
	}
}

// addPages makes the missing pages for slots slots.
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

// shape sets the page size before the first page.
func (s *Set) shape() {
	s.shift = pageShift(s.typ.Size)
	s.mask = 1<<s.shift - 1
}

// usedPages returns the number of pages with issued slots.
func (s *Set) usedPages() int { return (s.slots + 1<<s.shift - 1) >> s.shift }

func (s *Set) setRoom() {
	s.room = int(min(uint64(len(s.pages))<<s.shift, s.list.Limit()))
}
