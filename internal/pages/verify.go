package pages

import (
	"fmt"
	"iter"
	"slices"
	"unsafe"

	"handloom/internal/digest"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Verify checks every invariant of the map and of its sparse set and returns
// an error that cites the first one broken, or nil. It takes O(Cap()) time and
// changes nothing.
func (s *Stable) Verify() error {
	if err := s.verify(); err != nil {
		return fmt.Errorf("slotmap: typeId %d: %w", s.TypeID(), err)
	}
	return nil
}

func (s *Stable) verify() error {
	if err := s.verifyPages(); err != nil {
		return err
	}
	word := func(slot sparse.Slot) handle.ID { return *s.word(slot) }
	err := s.list.VerifyWords(s.slots, word, func(slot sparse.Slot, row sparse.Row) error {
		if sparse.Slot(row) != slot {
			return fmt.Errorf("S2: live slot %d holds row %d", slot, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for slot := range len(s.pages) << s.shift {
		if err := s.verifyCell(sparse.Slot(slot)); err != nil {
			return err
		}
	}
	return nil
}

// verifyPages checks that there is a page for every slot.
func (s *Stable) verifyPages() error {
	released := 0
	for p, page := range s.pages {
		if page.Len() != 1<<s.shift {
			return fmt.Errorf("S1: page %d has %d rows, not %d", p, page.Len(), 1<<s.shift)
		}
		if s.isReleased(p) {
			released++
		}
	}
	if released != s.released {
		return fmt.Errorf("S1: %d pages are given back, but the count says %d", released, s.released)
	}
	if rows := len(s.pages) << s.shift; s.slots > s.room || s.room > rows || rows > s.live.Cap() {
		return fmt.Errorf("S1: %d slots, room for %d, %d pages of %d rows, a bitmap of %d",
			s.slots, s.room, len(s.pages), 1<<s.shift, s.live.Cap())
	}
	return nil
}

// verifyCell checks that the bitmap is right about the slot, that a cell without
// an item is empty, and that a slot without memory or not issued yet matches no
// handle.
func (s *Stable) verifyCell(slot sparse.Slot) error {
	row, word := sparse.Row(slot), *s.cell(slot)
	issued := int(slot) < s.slots
	live := issued && !s.word(slot).IsProvisional()
	if s.live.Has(row) != live {
		return fmt.Errorf("S2: slot %d has word %v, an item by the bitmap: %t", slot, *s.word(slot), !live)
	}
	if released := s.isReleased(int(slot >> s.shift)); released || !issued {
		if live || word != 0 && (slot&sparse.Slot(s.mask) != 0 || word != handle.FreeBit) || slot == 0 && word == 0 {
			return fmt.Errorf("H2: slot %d, without an item, has word %v where lookups look", slot, word)
		}
	}
	if !live && s.typ.items.Pointers && !s.isStaged(int(row)) && !s.typ.items.IsZero(s.item(slot)) {
		return fmt.Errorf("S4: the item at row %d, which is empty, is not zero", row)
	}
	return nil
}

func (s *Stable) isStaged(row int) bool {
	return slices.ContainsFunc(s.staged, func(id handle.ID) bool { return int(id.Slot()) == row })
}

// Digest returns a 64-bit hash of the state; see slotmap.Map.Digest.
func (s *Stable) Digest() uint64 {
	var h digest.Hash
	s.DigestTo(&h)
	return h.Sum()
}

// DigestTo gives h what [Stable.Digest] is the sum of.
func (s *Stable) DigestTo(h *digest.Hash) {
	s.list.DigestWords(h, s.slots, func(first int, to []handle.ID) {
		for lo, hi := range s.pieces(first, first+len(to)) {
			s.copyWords(to[lo-first:hi-first], lo)
		}
	})
	for at := 0; at < s.slots; {
		first, end, ok := s.runOfPage(at, s.slots)
		if at = end; ok {
			s.typ.items.DigestApart(h, s.item(sparse.Slot(first)), s.size, end-first)
		}
	}
}

// copyWords copies the words from slot first on, which are of one page, to to.
func (s *Stable) copyWords(to []handle.ID, first int) {
	stride := s.size
	if s.isReleased(first >> s.shift) {
		stride = unsafe.Sizeof(handle.ID(0))
	}
	word := unsafe.Pointer(s.word(sparse.Slot(first)))
	for i := range to {
		to[i] = *(*handle.ID)(unsafe.Add(word, uintptr(i)*stride))
	}
}

// pieces cuts a run of slots where pages end.
func (s *Stable) pieces(first, end int) iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		for first < end {
			to := min(end, (first>>s.shift+1)<<s.shift)
			if !yield(first, to) {
				return
			}
			first = to
		}
	}
}
