package paged

import (
	"fmt"
	"slices"

	"handloom/handle"
	"handloom/internal/slotset"
)

// Verify returns an error that cites the first broken invariant. It takes O(Cap()) time.
func (s *Set) Verify() error {
	if err := s.verify(); err != nil {
		return fmt.Errorf("slotmap: typeId %d: %w", s.TypeID(), err)
	}
	return nil
}

func (s *Set) verify() error {
	if err := s.verifyPages(); err != nil {
		return err
	}
	word := func(slot slotset.Slot) handle.ID { return *s.word(slot) }
	err := s.list.VerifyWords(s.slots, word, func(slot slotset.Slot, row slotset.Row) error {
		if slotset.Slot(row) != slot {
			return fmt.Errorf("S2: live slot %d holds row %d", slot, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for slot := range slotset.Slot(len(s.pages) << s.shift) {
		if err := s.verifyRow(slot); err != nil {
			return err
		}
	}
	return nil
}

// verifyPages checks S1.
func (s *Set) verifyPages() error {
	released := 0
	for p := range s.pages {
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

// verifyRow checks that the bitmap is right, items have memory, empty rows are zero, and
// words of unissued slots match no handle.
func (s *Set) verifyRow(slot slotset.Slot) error {
	row, word := slotset.Row(slot), *s.word(slot)
	issued, released := int(slot) < s.slots, s.isReleased(int(slot>>s.shift))
	live := issued && !word.IsProvisional()
	// An insert callback is filling the row, so that the item need not be zero.
	staged := slices.ContainsFunc(s.staged, func(id handle.ID) bool { return id.Slot() == uint32(slot) })
	switch {
	case s.live.Has(row) != live:
		return fmt.Errorf("S2: slot %d has word %v, an item by the bitmap: %t", slot, word, !live)
	case live && released:
		return fmt.Errorf("S1: slot %d is live, but the memory of its page was given back", slot)
	case !issued && word != 0 && (slot != 0 || word != handle.FreeBit) || slot == 0 && word == 0:
		return fmt.Errorf("H2: slot %d, which was never issued, has word %v", slot, word)
	case !live && !released && s.typ.Pointers && !staged && !s.typ.IsZero(s.item(slot)):
		return fmt.Errorf("S4: the item at row %d, which is empty, is not zero", row)
	}
	return nil
}
