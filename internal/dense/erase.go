package dense

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Erase removes the item of h and reports whether it existed, in O(1) amortized time. It
// moves the last row into the gap. The meta set would be one more cache miss at random rows.
//
// It is typed and in one piece, without calls except where a slot is depleted or the ring of
// the freelist wraps: fewer instructions let the processor run further ahead while it waits
// for an item (op=erase, op=churn).
func Erase[T any](d *Set, h handle.Of[T]) bool {
	if d.busy != 0 || check.Full {
		d.guard("Erase")
	}
	words := d.set.Words
	i := uint64(h.ID) & slotset.IndexMask
	if i >= uint64(len(words)) {
		return false
	}
	w := words[i]
	// One compare of free bit, typeId and generation (H2).
	if (w^h.ID)>>32 != 0 {
		return false
	}
	all, meta := (*[]T)(unsafe.Pointer(&d.items)), d.meta
	row, last := int(uint32(w)), len(meta)-1
	// The last row fills the gap; its slot must find the new row (S2).
	if row < last {
		rows, moved := (*all)[:len(meta)], meta[last]
		rows[row] = rows[last]
		meta[row] = moved
		words[moved] = words[moved]&slotset.UpperHalf | handle.ID(row)
	}
	if d.typ.Pointers {
		var none T
		(*all)[last] = none // S4: lets the collector free the item
	}
	*all = (*all)[:last]
	// A running iteration sees the change.
	d.changes += slotset.Removed
	d.meta = d.meta[:last]
	vacated, ok := slotset.TryRetire[Inline](&d.set.Freelist, slotset.Slot(i), w)
	if !ok || d.followers != nil {
		// A last call keeps nothing in registers for after it.
		return d.endErase(slotset.Slot(i), w, vacated, row, last)
	}
	words[i] = vacated
	return true
}

// endErase ends an Erase of a row that the last one has filled. vacated is 0 if the slot of the word
// w is not retired yet.
func (d *Set) endErase(slot slotset.Slot, w, vacated handle.ID, row, last int) bool {
	if vacated == 0 {
		vacated = d.set.Retire(slot, w, len(d.set.Words))
	}
	d.set.Words[slot] = vacated
	// Columns and the order of Defragment follow with the same rows.
	if d.followers != nil {
		d.followers.erase(row, last)
	}
	return true
}

// EraseItems is handlemap.Map.EraseItems.
func (d *Set) EraseItems(ids []handle.ID) int {
	d.guard("EraseItems")
	marks := d.scratchMarks()
	// A set of rows, so that order and repetition of handles do not matter.
	d.set.MarkAll(marks, ids, len(d.meta))
	return d.EraseMarked(marks)
}

// EraseFunc shows f every row once, in dense order, before any removal. Nothing is removed
// if f panics.
func EraseFunc[T any](d *Set, f func(h handle.Of[T], v *T) bool) int {
	d.guard("EraseFunc")
	marks := d.scratchMarks()
	marks.Rows.Grow(len(d.meta))
	markRows(d, f, marks)
	return d.EraseMarked(marks)
}

// markRows marks the rows for which f returns true. If f panics it leaves no marks.
func markRows[T any](d *Set, f func(handle.Of[T], *T) bool, marks *Bitset) {
	done := false
	d.busy++
	defer func() {
		d.busy--
		if !done {
			marks.Clear()
		}
	}()
	all := *items.As[T](&d.items)
	for row := range all {
		if f(handle.Of[T]{ID: d.IDAt(row)}, &all[row]) {
			marks.Rows.Add(row)
		}
	}
	done = true
}

// EraseMarked removes the marked items in the order of [Set.EraseItems] and clears marks.
func (d *Set) EraseMarked(marks *Bitset) int {
	d.guard("EraseMarked")
	erased := marks.Len()
	kept := len(d.meta) - erased
	if d.followers != nil {
		// The order forgets the rows at the end first: the moves below mark only remaining
		// rows.
		d.followers.beginErase(kept)
	}
	d.set.EraseMarked(marks, d.meta, func(moves []slotset.Move) {
		// The set computes the moves from the marks, and moves words and meta set (S2); items
		// and columns make the same moves.
		d.typ.Move(d.items, moves)
		if d.followers != nil {
			d.followers.move(moves)
		}
	})
	if d.followers != nil {
		d.followers.endErase(kept, len(d.meta))
	}
	d.truncate(kept)
	marks.Clear()
	return erased
}

// truncate removes the rows from n on. The caller vacates their slots.
func (d *Set) truncate(n int) {
	d.changes += slotset.Removed * uint64(len(d.meta)-n)
	d.release(n, len(d.meta))
	d.items, d.meta = d.items.Resize(n), d.meta[:n]
}

// release zeroes rows if items hold pointers (S4).
func (d *Set) release(lo, hi int) {
	if d.typ.Pointers {
		d.typ.Clear(d.items.Sub(lo, hi, d.typ.Size))
	}
}

// Clear removes every item and keeps the memory, in O(Len()) time. The freelist may take
// over the meta set's array, which it needs now (op=clear).
func (d *Set) Clear() {
	d.guard("Clear")
	// Before the length falls: rows past it must be zero (C2).
	for _, c := range d.Columns() {
		c.clear(0, len(d.meta))
	}
	meta := d.meta
	d.truncate(0)
	d.meta = d.set.VacateAll(meta)
	// The array comes from the ring and may be longer than the dense set (S1).
	d.clipMeta()
	d.forgetOrder()
}

// Reset removes every item and releases the memory; see handlemap.Map.Reset.
func (d *Set) Reset() {
	d.guard("Reset")
	// New slots begin above the highest generation, and too few may be left (G3).
	if !d.set.CanDrop() {
		d.Clear()
		return
	}
	d.changes += slotset.Removed * uint64(len(d.meta))
	d.set.Drop()
	d.items, d.meta, d.marks = items.Slice{}, nil, nil
	d.sorting = nil
	if d.followers != nil {
		d.followers.reset()
	}
}

// scratchMarks returns an empty set of rows. Each user clears it after use.
func (d *Set) scratchMarks() *Bitset {
	if d.marks == nil {
		d.marks = new(Bitset)
	}
	return d.marks
}
