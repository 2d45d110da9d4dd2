package dense

import (
	"math/bits"
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Bitset are items of one map, to be erased together.
type Bitset = slotset.Bitset

// Mark marks the item that id names. It takes O(1) amortized time and changes
// nothing but the marks.
func (d *Set) Mark(marks *Bitset, id handle.ID) slotset.Marking {
	return d.set.Mark(marks, id, len(d.meta))
}

// MarkItems marks the items that ids name, appends those handles that mark
// nothing to unmarked and returns it. It takes O(len(ids)) amortized time and changes
// nothing but the marks.
func (d *Set) MarkItems(marks *Bitset, ids []handle.ID, unmarked []slotset.Unmarked) []slotset.Unmarked {
	return d.set.MarkItems(marks, ids, len(d.meta), unmarked)
}

// MarkRows marks the items at some rows, and returns how many had been marked before. It
// changes nothing but the marks.
func (d *Set) MarkRows(marks *Bitset, rows []uint32) (again int) {
	marks.Rows.Grow(len(d.meta))
	deplete := d.set.MayDeplete()
	for _, row := range rows {
		if !marks.Rows.Add(int(row)) {
			again++
		} else if deplete && d.set.IsLast(d.set.Words[d.meta[row]]) {
			marks.NoteDepleting(1)
		}
	}
	return again
}

// MarkEvery marks every item, in O(Len()/64) time but where slots may be depleted. It
// changes nothing but the marks.
func (d *Set) MarkEvery(marks *Bitset) { d.set.MarkEvery(marks, d.meta) }

// Marked calls yield for each marked item, in ascending order of rows, until it
// says false.
func (d *Set) Marked(marks *Bitset, yield func(id handle.ID, item unsafe.Pointer) bool) {
	for base, marked := range marks.Rows.Words {
		for ; marked != 0; marked &= marked - 1 {
			row := base + bits.TrailingZeros64(marked)
			if !yield(d.IDAt(row), d.items.Pointer(row, d.typ.Size)) {
				return
			}
		}
	}
}

// IsMarked reports whether id names an item that is marked.
func (d *Set) IsMarked(marks *Bitset, id handle.ID) bool {
	row, ok := d.set.Lookup(id)
	return ok && marks.Rows.Has(int(row))
}

// PutItems replaces the items that ids name by values, one after another, and
// notes the changes for Defragment. Handles that name none are passed over.
func (d *Set) PutItems(ids []handle.ID, values items.Slice) {
	for i, id := range ids {
		if row, ok := d.set.Lookup(id); ok {
			d.typ.Set(d.items.Pointer(int(row), d.typ.Size), values.Pointer(i, d.typ.Size))
			d.touchRange(int(row), int(row)+1)
		}
	}
}
