package dense

import (
	"math/bits"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Bitset is a set of items to erase.
type Bitset = slotset.Bitset

// Mark marks the item of id to be erased.
func (d *Set) Mark(marks *Bitset, id handle.ID) slotset.Marking {
	return d.set.Mark(marks, id, len(d.meta))
}

// MarkItems appends the handles that mark nothing to unmarked.
func (d *Set) MarkItems(marks *Bitset, ids []handle.ID, unmarked []slotset.Unmarked) []slotset.Unmarked {
	return d.set.MarkItems(marks, ids, len(d.meta), unmarked)
}

// MarkRows returns the number of items that were already marked.
func (d *Set) MarkRows(marks *Bitset, rows []uint32) (again int) {
	marks.Rows.Grow(len(d.meta))
	// Without old generations no word must be read.
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

// MarkEvery marks every item in O(Len()/64) time, or O(Len()) if slots may be depleted.
func (d *Set) MarkEvery(marks *Bitset) { d.set.MarkEvery(marks, d.meta) }

// Marked calls yield with each marked item, by ascending row, until it returns false.
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

// PutItems skips handles of no item and marks the others as changed for Defragment.
func (d *Set) PutItems(ids []handle.ID, values items.Slice) {
	if len(ids) > fewPuts {
		d.putBlocks(ids, values)
		return
	}
	for i, id := range ids {
		if row, ok := d.set.Lookup(id); ok {
			d.typ.Set(d.items.Pointer(int(row), d.typ.Size), values.Pointer(i, d.typ.Size))
			// The new value may have another place in the order.
			d.touchRange(int(row), int(row)+1)
		}
	}
}

// fewPuts do not repay a block of rows (op=fewcommands).
const fewPuts = 8

// putBlocks puts many items. It finds a block of rows and reads ahead, so that cache misses
// overlap.
func (d *Set) putBlocks(ids []handle.ID, values items.Slice) {
	var space [slotset.Lookahead]slotset.Row
	for from := 0; from < len(ids); from += slotset.Lookahead {
		block := slotset.Block(ids[from:])
		rows := space[:len(block)]
		d.set.LookupAll(block, rows)
		d.typ.ReadAhead(d.items, rows)
		for i, row := range rows {
			if row != slotset.NoRow {
				d.typ.Set(d.items.Pointer(int(row), d.typ.Size), values.Pointer(from+i, d.typ.Size))
				d.touchRange(int(row), int(row)+1)
			}
		}
	}
}
