package paged

import (
	"slices"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// reuse requires that the front slot's page has memory.
func (s *Set) reuse() handle.ID {
	slot := s.list.Front()
	word := s.word(slot)
	*word = s.list.Pop(*word) | handle.ID(slot)
	s.live.Add(slotset.Row(slot))
	return *word
}

// makeSlot issues a new slot. Its page exists.
func (s *Set) makeSlot() handle.ID {
	slot := slotset.Slot(s.slots)
	s.slots++
	id := s.list.NextFresh() | handle.ID(slot)
	*s.word(slot) = id
	s.live.Add(slotset.Row(slot))
	return id
}

// issue issues the slots of n staged items, in the order of peek.
func (s *Set) issue(n int) {
	reused, fresh, _ := s.list.Split(s.slots, n)
	for i := range n {
		if i >= reused && i < reused+fresh {
			s.makeSlot()
		} else {
			s.reuse()
		}
	}
}

// insert puts values into the next slots: vacant ones, new ones, then vacant ones that
// MinFree would hold back.
func (s *Set) insert(values items.Slice, dst []handle.ID) {
	reused, fresh, _ := s.list.Split(s.slots, len(dst))
	end := reused + fresh
	s.reuseMany(values.Sub(0, reused, s.typ.Size), dst[:reused])
	s.makeMany(values.Sub(reused, end, s.typ.Size), dst[reused:end])
	s.reuseMany(values.Sub(end, len(dst), s.typ.Size), dst[end:])
}

// atOnce is the number of slots that leave the freelist at once, into scratch memory.
const atOnce = 256

// reuseMany handles slots that a Clear freed page by page, because they are consecutive
// (op=insertitems).
func (s *Set) reuseMany(values items.Slice, dst []handle.ID) {
	for done := 0; done < len(dst); {
		slots := s.someSlots(min(atOnce, len(dst)-done))
		end := done + len(slots)
		s.list.PopAll(slots)
		some, ids := values.Sub(done, end, s.typ.Size), dst[done:end]
		if areNeighbours(slots) {
			s.reuseRun(int(slots[0]), some, ids)
		} else {
			s.list.Raise(s.typ.reuse(s, slots, some, ids))
		}
		done = end
	}
}

// reuseRun takes consecutive slots from first on, already off the freelist.
func (s *Set) reuseRun(first int, values items.Slice, dst []handle.ID) {
	var highest handle.ID
	for at, end := range s.pieces(first, first+len(dst)) {
		s.fill(at, end, values.Sub(at-first, end-first, s.typ.Size))
		words, ids := s.wordsOf(at, end), dst[at-first:end-first]
		for i, w := range words {
			id := w&(slotset.UpperHalf&^handle.FreeBit) | handle.ID(at+i)
			words[i], ids[i] = id, id
			highest = max(highest, id)
		}
	}
	s.list.Raise(highest)
}

// makeMany issues new slots, which are consecutive and have one generation.
func (s *Set) makeMany(values items.Slice, dst []handle.ID) {
	if len(dst) == 0 {
		return
	}
	upper, first := s.list.NextFresh(), s.slots
	s.slots += len(dst)
	for at, end := range s.pieces(first, s.slots) {
		s.fill(at, end, values.Sub(at-first, end-first, s.typ.Size))
		words, ids := s.wordsOf(at, end), dst[at-first:end-first]
		for i := range words {
			id := upper | handle.ID(at+i)
			words[i], ids[i] = id, id
		}
	}
}

// fill copies values to a run of slots within one page and marks them as live.
func (s *Set) fill(first, end int, values items.Slice) {
	s.typ.Copy(s.itemsOf(first, end), values)
	s.live.AddRange(first, end)
}

// areNeighbours reports whether the slots are consecutive.
func areNeighbours(slots []slotset.Slot) bool {
	first := slots[0]
	if slots[len(slots)-1]-first != slotset.Slot(len(slots)-1) {
		return false
	}
	for i, slot := range slots {
		if slot != first+slotset.Slot(i) {
			return false
		}
	}
	return true
}

// someSlots returns scratch memory for n slots.
func (s *Set) someSlots(n int) []slotset.Slot {
	s.some = slices.Grow(s.some[:0], n)[:n]
	return s.some
}

// eraseSlots erases the items of live slots.
func (s *Set) eraseSlots(slots []slotset.Slot) {
	// S4: the collector must not see them.
	if s.typ.Pointers {
		s.typ.zero(s, slots)
	}
	for _, slot := range slots {
		word := s.word(slot)
		*word = s.list.Retire(slot, *word, s.slots)
		s.live.Remove(slotset.Row(slot))
	}
}
