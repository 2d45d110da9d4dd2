package sparse

import (
	"slices"

	"handloom/shard/handle"
)

// CanIssue reports whether n more slots can be issued, by reuse or by growth,
// after freed more have been vacated. How many of those deplete does not
// matter to callers that plan ahead: see [Set.CountDepleting].
func (s *Set) CanIssue(n, freed int) bool {
	s.setWidths()
	return uint64(n) <= uint64(s.vacant)+uint64(freed)+uint64(s.limit)-uint64(len(s.Words))
}

// IsLast reports whether vacating the live slot that id names would deplete it.
func (s *Set) IsLast(id handle.ID) bool { return id.Generation() == s.last }

// split says how the next n slots are issued: reuse vacant ones from the front
// of the freelist, then fresh ones, then, at the slot limit, held-back ones
// from the freelist after all. The caller has checked [Set.CanIssue].
func (s *Set) split(n int) (reuse, fresh, heldBack int) {
	reuse = min(n, max(0, int(s.vacant)-int(s.minFree)))
	fresh = n - reuse
	if room := uint64(s.limit) - uint64(len(s.Words)); uint64(fresh) > room {
		heldBack = fresh - int(room)
		fresh = int(room)
	}
	return reuse, fresh, heldBack
}

// Fresh returns how many new slots the next n issues make. The caller has
// checked [Set.CanIssue].
func (s *Set) Fresh(n int) int {
	_, fresh, _ := s.split(n)
	return fresh
}

// TryIssue issues one slot for the item at row, when that needs no growth and
// no look at the limits; this is the path of nearly every single insert.
func (s *Set) TryIssue(row Row) (handle.ID, bool) {
	if s.vacant > s.minFree {
		return s.reuse(row), true
	}
	if n := len(s.Words); n < cap(s.Words) {
		generation := handle.ID(s.floor)<<32 + oneGeneration
		s.Words = s.Words[:n+1]
		s.Words[n] = s.typeID | generation | handle.ID(row)
		s.highest = max(s.highest, s.floor+1)
		return s.typeID | generation | handle.ID(n), true
	}
	return 0, false
}

// reuse issues the slot at the front of the freelist.
func (s *Set) reuse(row Row) handle.ID {
	slot := s.front - 1
	w := s.Words[slot] &^ handle.FreeBit
	s.front = link(w & rowMask)
	s.vacant--
	if s.vacant == 0 {
		s.back = 0 // F1
	}
	s.highest = max(s.highest, w.Generation())
	s.Words[slot] = w&^rowMask | handle.ID(row)
	return w&^rowMask | handle.ID(slot)
}

// Issue issues one slot per element of dst for items at row, row+1 and so on,
// and writes their slots to meta and their handles to dst. Capacity for
// [Set.Fresh] more words must have been made by [Set.Grow].
//
// It is a function and not a method because the handles in dst carry the item
// type. The loops are kept straight for bulk inserts (op=insertitems).
func Issue[T any](s *Set, row Row, meta []Slot, dst []handle.Of[T]) {
	reuse, fresh, _ := s.split(len(dst))
	issueVacant(s, row, meta[:reuse], dst[:reuse])
	end := reuse + fresh
	issueFresh(s, row+Row(reuse), meta[reuse:end], dst[reuse:end])
	issueVacant(s, row+Row(end), meta[end:], dst[end:])
}

func issueVacant[T any](s *Set, row Row, meta []Slot, dst []handle.Of[T]) {
	meta = meta[:len(dst)]
	for i := range dst {
		id := s.reuse(row + Row(i))
		meta[i] = Slot(id)
		dst[i].ID = id
	}
}

func issueFresh[T any](s *Set, row Row, meta []Slot, dst []handle.Of[T]) {
	if len(dst) == 0 {
		return
	}
	first := len(s.Words)
	s.Words = s.Words[:first+len(dst)]
	s.highest = max(s.highest, s.floor+1)
	word := s.typeID | handle.ID(s.floor)<<32 + oneGeneration
	words := s.Words[first:]
	meta = meta[:len(dst)]
	for i := range dst {
		slot := handle.ID(first + i)
		words[i] = word | handle.ID(row+Row(i))
		meta[i] = Slot(slot)
		dst[i].ID = word | slot
	}
}

// Preview writes to dst the handles that the next [Set] issues will give,
// changing nothing.
func Preview[T any](s *Set, dst []handle.Of[T]) {
	reuse, fresh, _ := s.split(len(dst))
	next := s.front
	vacant := func(dst []handle.Of[T]) {
		for i := range dst {
			w := s.Words[next-1] &^ handle.FreeBit
			dst[i].ID = w&^rowMask | handle.ID(next-1)
			next = link(w & rowMask)
		}
	}
	vacant(dst[:reuse])
	for i := range dst[reuse : reuse+fresh] {
		dst[reuse+i].ID = s.typeID | handle.ID(s.floor)<<32 + oneGeneration | handle.ID(len(s.Words)+i)
	}
	vacant(dst[reuse+fresh:])
}

// Grow makes capacity for n words in all, and never less than there is. Slots
// do not change.
func (s *Set) Grow(n int) {
	s.setWidths()
	if n > cap(s.Words) {
		grown := make([]handle.ID, len(s.Words), n)
		copy(grown, s.Words)
		s.Words = grown
	}
}

// Limit returns the number of slots the set may have.
func (s *Set) Limit() uint64 {
	s.setWidths()
	return uint64(s.limit)
}

// Shrink gives back capacity beyond the slots.
func (s *Set) Shrink() {
	s.Words = slices.Clip(append([]handle.ID(nil), s.Words...))
}
