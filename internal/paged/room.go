package paged

import (
	"fmt"
	"math"

	"handloom/handle"
	"handloom/internal/slotset"
)

// CanInsert returns an error that wraps [handle.ErrFull] unless n more items fit after
// erased items are gone and depleting of their slots are lost.
func (s *Set) CanInsert(n, erased, depleting int) error {
	return s.list.CanInsert(s.slots, n, erased, depleting, s.maxItems)
}

// makeRoom makes room for n more items, or fails with [handle.ErrFull] and changes nothing.
func (s *Set) makeRoom(n int) error {
	if err := s.CanInsert(n, 0, 0); err != nil {
		return err
	}
	s.grow(n)
	return nil
}

// HasRoom takes O(1) time, or O(n) after [Set.Shrink] released pages.
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

// Reserve is slotmap.Map.Reserve.
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

// ReserveMore changes only capacity, up to the limits of the map. It moves no item.
func (s *Set) ReserveMore(n int) {
	s.guard("ReserveMore")
	if n < 0 {
		panic(fmt.Sprintf("slotmap: ReserveMore of %d items; n must not be negative", n))
	}
	s.reserve(n)
}

// reserve makes room for up to n more items.
func (s *Set) reserve(n int) {
	if s.maxItems > 0 {
		n = min(n, s.maxItems) // in full: items may be erased before the inserts and their slots depleted
	}
	if n = min(n, s.issuable()); n > 0 {
		s.grow(n)
	}
}

// issuable returns the number of items that fit under the slot limit.
func (s *Set) issuable() int {
	return int(min(s.list.Limit()-uint64(s.Len())-uint64(s.list.Depleted()), math.MaxInt))
}

// fresh returns the number of new slots of the next n issues.
func (s *Set) fresh(n int) int {
	_, fresh, _ := s.list.Split(s.slots, n)
	return fresh
}

// peek calls f with the handles of the next n issues, and changes nothing.
func (s *Set) peek(n int, f func(i int, id handle.ID)) {
	s.list.Peek(s.slots, n, func(slot slotset.Slot) handle.ID { return *s.word(slot) }, f)
}

// grow requires that the limits allow n more items.
func (s *Set) grow(n int) {
	if slots := s.slots + s.fresh(n); slots > s.room {
		s.addPages(slots)
	}
	// Only pages of slots that will be issued get memory again.
	if s.released > 0 {
		s.peek(n, func(_ int, id handle.ID) { s.restore(int(id.Slot() >> s.shift)) })
	}
}

// addPages adds pages until slots fit. No item moves.
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

// shape fixes the size of pages. It is called before the first page, and the type stays.
func (s *Set) shape() {
	s.shift = pageShift(s.typ.Size)
	s.mask = 1<<s.shift - 1
}

// usedPages returns the number of pages with slots.
func (s *Set) usedPages() int { return (s.slots + 1<<s.shift - 1) >> s.shift }

// setRoom computes room, which the slot limit bounds: the last page may have more rows.
func (s *Set) setRoom() { s.room = int(min(uint64(len(s.pages))<<s.shift, s.list.Limit())) }
