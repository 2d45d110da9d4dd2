package dense

import (
	"fmt"
	"math"
	"slices"

	"handloom/internal/slotset"
)

// smallest is the first capacity, in rows.
const smallest = 8

// CanInsert returns an error that wraps [handle.ErrFull] unless n more items fit after
// erased items are gone and depleting of their slots are lost.
func (d *Set) CanInsert(n, erased, depleting int) error {
	return d.set.CanInsert(n, erased, depleting, d.maxItems)
}

// makeRoom makes room for n more items, or fails with [handle.ErrFull] and changes nothing.
func (d *Set) makeRoom(n int) error {
	if err := d.CanInsert(n, 0, 0); err != nil {
		return err
	}
	d.grow(n)
	return nil
}

// HasRoom reports whether n more items fit the arrays. The freelist needs no memory for
// inserts.
func (d *Set) HasRoom(n int) bool {
	return len(d.meta)+n <= cap(d.meta) && d.set.Slots()+d.set.Fresh(n) <= cap(d.set.Words)
}

// ReserveMore changes only capacity, up to the limits of the map.
func (d *Set) ReserveMore(n int) {
	d.guard("ReserveMore")
	if n < 0 {
		panic(fmt.Sprintf("handlemap: ReserveMore of %d items; n must not be negative", n))
	}
	d.grow(n)
}

// needs returns the numbers of rows and slot words with n more items. Items may be erased
// before the inserts and their slots depleted or held back; so all n count for the words
// even where MaxItems leaves no row.
func (d *Set) needs(n int) (rows, words int) {
	limit := int(min(d.set.Limit(), math.MaxInt))
	if d.maxItems > 0 {
		limit = min(limit, d.maxItems)
	}
	n = min(n, limit)
	return min(len(d.meta)+n, max(limit, len(d.meta))), d.set.Slots() + d.set.Fresh(n)
}

// grow makes room for n more items, up to the limits. Each array grows at most once.
func (d *Set) grow(n int) {
	rows, words := d.needs(n)
	if rows > d.items.Cap() {
		d.growRows(d.roomy(rows, d.items.Cap()))
	}
	d.growMeta(rows)
	if words > cap(d.set.Words) {
		// At least as many words as rows: each row has a slot.
		d.growWords(max(d.roomy(words, cap(d.set.Words)), d.items.Cap()))
	}
}

// roomy at least doubles, because copying costs more than spare memory (op=create). All
// arrays use it, so they grow together.
func (d *Set) roomy(need, have int) int {
	grown := max(smallest, have*2)
	if need <= d.maxItems { // slots may exceed MaxItems: vacant and depleted slots
		grown = min(grown, d.maxItems)
	}
	return max(need, grown)
}

// growRows makes room for n rows, exactly, in the dense set, the columns and the meta set.
func (d *Set) growRows(n int) {
	if n > d.items.Cap() {
		grown := d.typ.Grown(d.items, n)
		for _, c := range d.Columns() {
			c.grow(len(d.meta), n)
		}
		poison(d.typ, d.items)
		d.items = grown.Resize(len(d.meta))
	}
	d.growMeta(n)
}

// growMeta also repairs the meta set that a Clear gave away.
func (d *Set) growMeta(n int) {
	d.changes += slotset.Resized
	if n > cap(d.meta) {
		// make followed by copy avoids zeroing the copied part (op=create).
		old, room := d.meta, d.items.Cap()
		meta := make([]slotset.Slot, room)
		copy(meta, old)
		d.meta = meta[:len(old)]
	}
}

// clipMeta limits the capacity of the meta set to the capacity of the dense set (S1).
func (d *Set) clipMeta() { d.meta = d.meta[:len(d.meta):min(cap(d.meta), d.items.Cap())] }

// growWords makes room for n slot words, up to the limit of slots.
func (d *Set) growWords(n int) { d.set.Grow(int(min(uint64(n), d.set.Limit()))) }

// Reserve is handlemap.Map.Reserve.
func (d *Set) Reserve(n int) {
	d.guard("Reserve")
	if n < 0 {
		panic(fmt.Sprintf("handlemap: Reserve of %d items; n must not be negative", n))
	}
	if d.maxItems > 0 {
		n = min(n, d.maxItems)
	}
	if more := n - len(d.meta); more > 0 {
		more = int(min(uint64(more), d.set.Limit()-uint64(len(d.meta))))
		d.growRows(len(d.meta) + more)
		d.growWords(d.set.Slots() + d.set.Fresh(more))
	}
}

// Shrink is handlemap.Map.Shrink.
func (d *Set) Shrink() {
	d.guard("Shrink")
	d.changes += slotset.Resized
	d.items = d.typ.Grown(d.items, len(d.meta))
	d.meta = slices.Clip(append([]slotset.Slot(nil), d.meta...))
	d.set.Shrink()
	// Scratch memory is made again when it is needed.
	d.marks, d.sorting = nil, nil
	if d.followers != nil {
		d.followers.shrink(len(d.meta))
	}
}
