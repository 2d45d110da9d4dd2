package dense

import (
	"fmt"

	"handloom/internal/slotset"
)

// Verify returns an error that cites the first broken invariant. It takes O(slots + Cap())
// time.
func (d *Set) Verify() error {
	if err := d.verify(); err != nil {
		return fmt.Errorf("handlemap: typeId %d: %w", d.TypeID(), err)
	}
	return nil
}

func (d *Set) verify() error {
	if d.items.Len() != len(d.meta) {
		return fmt.Errorf("S1: %d items, but %d rows in the meta set", d.items.Len(), len(d.meta))
	}
	if d.items.Cap() < cap(d.meta) {
		return fmt.Errorf("S1: room for %d items, but for %d rows in the meta set", d.items.Cap(), cap(d.meta))
	}
	live := 0
	err := d.set.Verify(func(slot slotset.Slot, row slotset.Row) error {
		live++
		if int(row) >= len(d.meta) || d.meta[row] != slot {
			return fmt.Errorf("S2: slot %d holds row %d, whose owner it is not", slot, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Every live slot owns its row and two slots cannot own one row. Equal counts therefore
	// mean that every row has a slot.
	if live != len(d.meta) {
		return fmt.Errorf("S2: %d live slots for %d rows", live, len(d.meta))
	}
	if err := d.verifyTail(); err != nil {
		return err
	}
	for _, c := range d.Columns() {
		if err := c.verify(len(d.meta), d.items.Cap()); err != nil {
			return err
		}
	}
	return d.verifyOrdering()
}

// verifyTail checks S4.
func (d *Set) verifyTail() error {
	if !d.typ.Pointers {
		return nil
	}
	// A callback is filling the staged rows.
	beyond := len(d.meta) + d.staged
	all := d.items.Resize(d.items.Cap())
	for row := beyond; row < all.Len(); row++ {
		if !d.typ.IsZero(all.Pointer(row, d.typ.Size)) {
			return fmt.Errorf("S4: the item at row %d, beyond the length %d, is not zero", row, beyond)
		}
	}
	return nil
}
