package rows

import (
	"slices"
	"unsafe"

	"handloom/internal/sparse"
)

// rowsFrom returns the rows i to j-1 in order, in scratch of the map.
func (d *Dense) rowsFrom(i, j int) []sparse.Row {
	d.scratch.order = slices.Grow(d.scratch.order[:0], j-i)[:j-i]
	for k := range d.scratch.order {
		d.scratch.order[k] = sparse.Row(i + k)
	}
	return d.scratch.order
}

// spareRows returns other scratch of the map, for n rows.
func (d *Dense) spareRows(n int) []sparse.Row {
	d.scratch.spare = slices.Grow(d.scratch.spare[:0], n)[:n]
	return d.scratch.spare
}

// reorder arranges the rows from first on and notes that for Defragment.
func (d *Dense) reorder(first int, order, spare []sparse.Row) {
	if d.arrange(first, order, spare) > 0 {
		d.touchRange(first, first+len(order))
	}
}

// arrange moves the item at row order[k] to row first+k, for every k; order is
// a permutation of the rows from first on. It uses up order and spare, which is
// as long, and returns how many items it moved.
func (d *Dense) arrange(first int, order, spare []sparse.Row) (moves int) {
	k := 0
	for k < len(order) && int(order[k]) == first+k {
		k++
	}
	if k == len(order) {
		return 0
	}
	first, order, spare = first+k, order[k:], spare[k:]
	d.arrangeOwners(first, order, spare)
	if d.typ.Size <= lineBytes {
		return d.gather(first, order)
	}
	return d.permute(first, order)
}

// arrangeOwners does for the meta set what arrange does for the items, and tells
// the slots.
func (d *Dense) arrangeOwners(first int, order, spare []sparse.Row) {
	for k, row := range order {
		spare[k] = sparse.Row(d.meta[row])
	}
	meta := d.meta[first : first+len(order)]
	for k, slot := range spare[:len(order)] {
		meta[k] = sparse.Slot(slot)
		d.set.SetRow(sparse.Slot(slot), sparse.Row(first+k))
	}
}

// gather moves items through a second array. Every read is known beforehand, so
// that the machine has many of them under way at a time (op=sort).
func (d *Dense) gather(first int, order []sparse.Row) (moves int) {
	n := len(order)
	gathered := d.typ.Gather(d.scratch.gathered, d.items, order)
	d.scratch.gathered = gathered
	for k, row := range order {
		if int(row) != first+k {
			moves++
		}
	}
	d.typ.Copy(d.items.Sub(first, first+n, d.typ.Size), gathered)
	if d.typ.Pointers {
		d.typ.Clear(gathered) // the collector can free what the items held
	}
	return moves
}

// permute moves the item at row order[k] to row first+k along the cycles of the
// permutation, so that large items need no second array and move once.
func (d *Dense) permute(first int, order []sparse.Row) (moves int) {
	if d.scratch.one.Cap() == 0 {
		d.scratch.one = d.typ.Make(1)
	}
	one := d.scratch.one.Pointer(0, d.typ.Size)
	item := func(k int) unsafe.Pointer { return d.items.Pointer(first+k, d.typ.Size) }
	for begin := range order {
		from := int(order[begin]) - first
		if from == begin {
			continue
		}
		d.typ.Set(one, item(begin))
		at := begin
		for from != begin {
			d.typ.Set(item(at), item(from))
			order[at] = sparse.Row(at + first)
			at, from = from, int(order[from])-first
			moves++
		}
		d.typ.Set(item(at), one)
		order[at] = sparse.Row(at + first)
		moves++
	}
	d.typ.Clear(d.scratch.one)
	return moves
}

// exchange swaps two rows.
func (d *Dense) exchange(a, b sparse.Row) {
	d.typ.Exchange(d.items, a, b)
	d.meta[a], d.meta[b] = d.meta[b], d.meta[a]
	d.set.SetRow(d.meta[a], a)
	d.set.SetRow(d.meta[b], b)
}
