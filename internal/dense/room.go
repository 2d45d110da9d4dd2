package dense

import (
	"fmt"
	"math"
	"slices"

	"handloom/internal/slotset"
)

// smallest is how many rows the first growth makes room for.
const smallest = 8

// CanInsert reports whether n more items fit the map once erased of its items
// are gone, without changing anything: nil, or an error that wraps [handle.ErrFull].
// depleting of the erased ones are at their last generation, so that their
// slots do not come back.
func (d *Set) CanInsert(n, erased, depleting int) error {
	return d.set.CanInsert(n, erased, depleting, d.maxItems)
}

// makeRoom checks the limits for n more items and grows the arrays that need
// it, each once.
func (d *Set) makeRoom(n int) error {
	if err := d.CanInsert(n, 0, 0); err != nil {
		return err
	}
	d.grow(n)
	return nil
}

// HasRoom reports whether n more items need no array to grow.
func (d *Set) HasRoom(n int) bool {
	return len(d.meta)+n <= cap(d.meta) && d.set.Slots()+d.set.Fresh(n) <= cap(d.set.Words)
}

// ReserveMore makes room for n more items, as inserting them would; beyond what
// the map may hold it makes none. It changes capacity only, never slots.
func (d *Set) ReserveMore(n int) {
	d.guard("ReserveMore")
	if n < 0 {
		panic(fmt.Sprintf("handlemap: ReserveMore of %d items; n must not be negative", n))
	}
	d.grow(n)
}

// needs returns how many rows and slot words the map has with n more items. Some
// items may be erased before those come, and their slots be depleted or held
// back; so n counts in full for the words, even where MaxItems leaves no row.
func (d *Set) needs(n int) (rows, words int) {
	most := int(min(d.set.Limit(), math.MaxInt))
	if d.maxItems > 0 {
		most = min(most, d.maxItems)
	}
	n = min(n, most)
	return min(len(d.meta)+n, max(most, len(d.meta))), d.set.Slots() + d.set.Fresh(n)
}

// grow makes room for n more items, with some to spare.
func (d *Set) grow(n int) {
	rows, words := d.needs(n)
	if rows > d.items.Cap() {
		d.growRows(d.roomy(rows, d.items.Cap()))
	}
	d.growMeta(rows)
	if words > cap(d.set.Words) {
		d.growWords(max(d.roomy(words, cap(d.set.Words)), d.items.Cap()))
	}
}

// roomy returns the capacity to grow to from have when need are needed: twice as
// much, for what is copied costs more than what is spare (op=create). All three
// arrays follow one policy, so that they grow together.
func (d *Set) roomy(need, have int) int {
	grown := max(smallest, have*2)
	if need <= d.maxItems { // slots may be more than MaxItems: vacant and depleted ones
		grown = min(grown, d.maxItems)
	}
	return max(need, grown)
}

// growRows moves dense and meta set to arrays of n rows. Nothing is moved when
// they are that large.
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

// growMeta makes room in the meta set for n rows, for which the dense set has it, and
// then for as many as that has it for. A Clear may have left less, or none.
func (d *Set) growMeta(n int) {
	if n > cap(d.meta) {
		// Made and copied to at once, what is copied to is not zeroed before (op=create).
		old, room := d.meta, d.items.Cap()
		meta := make([]slotset.Slot, room)
		copy(meta, old)
		d.meta = meta[:len(old)]
	}
}

// clipMeta leaves the meta set no more room than the dense set has (S1).
func (d *Set) clipMeta() {
	d.meta = d.meta[:len(d.meta):min(cap(d.meta), d.items.Cap())]
}

func (d *Set) growWords(n int) {
	d.set.Grow(int(min(uint64(n), d.set.Limit())))
}

// Reserve makes room for n items in all, so that inserts up to there grow no
// array. It changes capacity only, never slots; more than the map may hold is
// taken as what it may hold. A negative n panics. It takes O(Len()) time and
// invalidates pointers to items when it grows.
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

// Shrink gives back the capacity that the items and slots do not use. It takes
// O(slots) time and invalidates pointers to items.
func (d *Set) Shrink() {
	d.guard("Shrink")
	d.items = d.typ.Grown(d.items, len(d.meta))
	d.meta = slices.Clip(append([]slotset.Slot(nil), d.meta...))
	d.set.Shrink()
	d.marks, d.scratch = nil, reordering{}
	if d.followers != nil {
		d.followers.shrink(len(d.meta))
	}
}
