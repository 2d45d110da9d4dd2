package paged

import (
	"math/bits"
	"runtime"
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Erase removes the item of h and reports whether it existed, in O(1) time.
//
// It is typed and in one piece, without calls except where a slot is depleted or the ring of
// the freelist wraps (op=erase, op=churn).
func Erase[T any](s *Set, h handle.Of[T]) bool {
	if s.busy != 0 || check.Full {
		s.guard("Erase")
	}
	p := h.ID & slotset.IndexMask >> (s.shift & 63)
	if p >= handle.ID(len(s.pages)) {
		return false
	}
	page, at := &s.pages[p], uintptr(h.ID&s.mask)
	word := (*handle.ID)(unsafe.Add(page.words, at*wordSize))
	w := *word
	// The word of a live slot is its handle, so one compare of 64 bits decides (H1, H2).
	if w != h.ID {
		return false
	}
	if s.typ.Pointers {
		var none T
		*(*T)(unsafe.Add(page.items, at*unsafe.Sizeof(none))) = none // lets the collector free the item
	}
	slot := slotset.Slot(h.ID)
	vacated, ok := slotset.TryRetire[slotset.Inline](&s.list, slot, w)
	if !ok {
		vacated = s.list.Retire(slot, w, s.slots)
	}
	*word = vacated
	s.live.Pages[slot/64/slotset.BitmapWords][slot/64%slotset.BitmapWords] &^= 1 << (slot % 64)
	return true
}

// EraseItems is slotmap.Map.EraseItems.
func (s *Set) EraseItems(ids []handle.ID) int {
	s.guard("EraseItems")
	marks := s.scratchMarks()
	for _, id := range ids {
		s.Mark(marks, id)
	}
	return s.EraseMarked(marks)
}

// EraseFunc shows f every item once, by ascending row, before any removal. Nothing is
// removed if f panics.
func EraseFunc[T any](s *Set, f func(h handle.Of[T], v *T) bool) int {
	s.guard("EraseFunc")
	marks := s.scratchMarks()
	marks.Rows.Grow(s.slots)
	markSlots(s, f, marks)
	return s.EraseMarked(marks)
}

// markSlots marks the items for which f returns true. If f panics it leaves no marks.
func markSlots[T any](s *Set, f func(handle.Of[T], *T) bool, marks *slotset.Bitset) {
	done := false
	s.busy++
	defer func() {
		s.busy--
		if !done {
			marks.Clear()
		}
	}()
	for h, v := range Range[T](s, 0, s.slots) {
		if f(h, v) {
			marks.Rows.Add(int(h.ID.Slot()))
		}
	}
	done = true
}

// Mark marks the item of id to be erased.
func (s *Set) Mark(marks *slotset.Bitset, id handle.ID) slotset.Marking {
	if !s.Has(id) {
		return slotset.Stale
	}
	return marks.Add(int(id.Slot()), s.slots, s.list.IsLast(id))
}

// MarkItems appends the handles that mark nothing to unmarked.
func (s *Set) MarkItems(marks *slotset.Bitset, ids []handle.ID, unmarked []slotset.Unmarked) []slotset.Unmarked {
	for i, id := range ids {
		if marking := s.Mark(marks, id); marking != slotset.Marked {
			unmarked = append(unmarked, slotset.Unmarked{Index: i, Marking: marking})
		}
	}
	return unmarked
}

// MarkEvery marks every item in O(Rows()/64) time, or O(Rows()) if slots may be depleted.
func (s *Set) MarkEvery(marks *slotset.Bitset) {
	marks.Rows.Grow(s.slots)
	depleting, mayDeplete := 0, s.list.MayDeplete()
	for w := 0; w*64 < s.slots; w++ {
		live := s.live.Bits(w)
		marks.Rows.AddWord(w, live)
		for ; mayDeplete && live != 0; live &= live - 1 {
			if s.list.IsLast(*s.word(slotset.Slot(w*64 + bits.TrailingZeros64(live)))) {
				depleting++
			}
		}
	}
	marks.NoteDepleting(depleting)
}

// Marked calls yield with each marked item, by ascending row, until it returns false.
func (s *Set) Marked(marks *slotset.Bitset, yield func(id handle.ID, item unsafe.Pointer) bool) {
	for base, marked := range marks.Rows.Words {
		for ; marked != 0; marked &= marked - 1 {
			slot := slotset.Slot(base + bits.TrailingZeros64(marked))
			if !yield(*s.word(slot), s.item(slot)) {
				return
			}
		}
	}
}

// PutItems skips handles of no item.
func (s *Set) PutItems(ids []handle.ID, values items.Slice) {
	var rows [slotset.Lookahead]slotset.Row
	for from := 0; from < len(ids); from += slotset.Lookahead {
		block := slotset.Block(ids[from:])
		s.RowsOf(block, rows[:])
		// Cache misses of different items overlap.
		s.readAhead(rows[:len(block)])
		for i, row := range rows[:len(block)] {
			if row != slotset.NoRow {
				s.typ.Set(s.item(slotset.Slot(row)), values.Pointer(from+i, s.typ.Size))
			}
		}
	}
}

// readAhead is [items.Type.ReadAhead].
func (s *Set) readAhead(rows []slotset.Row) {
	if s.typ.Size == 0 {
		return
	}
	var sum byte
	for _, row := range rows {
		if row != slotset.NoRow {
			sum += *(*byte)(s.item(slotset.Slot(row)))
		}
	}
	runtime.KeepAlive(sum)
}

// EraseMarked removes the marked items in the order of [Set.EraseItems] and clears marks.
func (s *Set) EraseMarked(marks *slotset.Bitset) int {
	s.guard("EraseMarked")
	// 64 slots at a time, in ascending order: the freelist gets them in this order.
	for base, word := range marks.Rows.Words {
		slots := s.someSlots(bits.OnesCount64(word))
		for i := range slots {
			slots[i] = slotset.Slot(base + bits.TrailingZeros64(word))
			word &= word - 1
		}
		s.eraseSlots(slots)
	}
	erased := marks.Len()
	marks.Clear()
	return erased
}

// Clear removes every item and keeps the memory, in O(Len() + Rows()/64) time.
func (s *Set) Clear() {
	s.guard("Clear")
	mayDeplete := s.list.MayDeplete()
	if !mayDeplete {
		s.list.GrowRing(s.Len(), s.slots) // once instead of per run
	}
	for first, end := range s.runs() {
		if s.typ.Pointers {
			s.typ.Clear(s.itemsOf(first, end))
		}
		if mayDeplete {
			s.retire(first, end)
		} else {
			s.vacate(first, end)
		}
	}
	s.live.RemoveRange(0, s.slots)
}

// retire vacates the slots of a run. Some may be depleted (G2).
func (s *Set) retire(first, end int) {
	words := s.wordsOf(first, end)
	for i, w := range words {
		words[i] = s.list.Retire(slotset.Slot(first+i), w, s.slots)
	}
}

// vacate is retire without depletion, so no slot needs a decision (op=clear).
func (s *Set) vacate(first, end int) {
	ticket := s.list.PushRun(slotset.Slot(first), slotset.Slot(end), s.slots)
	words := s.wordsOf(first, end)
	for i, w := range words {
		words[i] = handle.FreeBit | (w&slotset.UpperHalf + 1<<32) | handle.ID(ticket+uint32(i))
	}
}

// Reset is slotmap.Map.Reset.
func (s *Set) Reset() {
	s.guard("Reset")
	// New slots begin above the highest generation, and too few may be left (G3).
	if !s.list.CanDrop() {
		s.Clear()
		return
	}
	s.list.Drop()
	s.pages, s.marks, s.some = nil, nil, nil
	s.slots, s.room, s.released = 0, 0, 0
	s.live.Clear() // an iteration may still read it
	s.live = slotset.Live{}
}

// scratchMarks returns an empty set of rows. Each user clears it after use.
func (s *Set) scratchMarks() *slotset.Bitset {
	if s.marks == nil {
		s.marks = new(slotset.Bitset)
	}
	return s.marks
}
