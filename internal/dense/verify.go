package dense

import (
	"fmt"

	"handloom/internal/digest"
	"handloom/internal/slotset"
)

// Verify checks every invariant of the map and of its sparse set and returns
// an error that cites the first one broken, or nil. It takes O(slots + Cap())
// time and changes nothing.
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
	// Every live slot owns the row it holds, and two slots cannot own one row;
	// equal counts therefore mean that every row has its slot.
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
	beyond := len(d.meta) + d.staged
	all := d.items.Resize(d.items.Cap())
	for row := beyond; row < all.Len(); row++ {
		if !d.typ.IsZero(all.Pointer(row, d.typ.Size)) {
			return fmt.Errorf("S4: the item at row %d, beyond the length %d, is not zero", row, beyond)
		}
	}
	return nil
}

// Digest returns a 64-bit hash of the state; see handlemap.Map.Digest.
func (d *Set) Digest() uint64 {
	var h digest.Hash
	d.DigestTo(&h)
	return h.Sum()
}

// ItemsDigest is Digest without the columns.
func (d *Set) ItemsDigest() uint64 {
	var h digest.Hash
	d.digestItems(&h)
	return h.Sum()
}

// DigestTo gives h what [Set.Digest] is the sum of.
func (d *Set) DigestTo(h *digest.Hash) {
	d.digestItems(h)
	for _, c := range d.Columns() {
		c.digest(h, len(d.meta))
	}
}

func (d *Set) digestItems(h *digest.Hash) {
	d.set.Digest(h) // the words of live slots hold the row order
	d.ordering().digest(h)
	d.typ.DigestItems(h, d.items)
}
