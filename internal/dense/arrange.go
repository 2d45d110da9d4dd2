package dense

import (
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/slotset"
)

// rowsFrom returns the rows i to j-1 in scratch memory, for an order of them.
func (d *Set) rowsFrom(i, j int) []slotset.Row {
	all := d.scratch()
	all.order = atLeast(all.order, j-i)
	for k := range all.order {
		all.order[k] = slotset.Row(i + k)
	}
	return all.order
}

// spareRows returns other scratch memory.
func (d *Set) spareRows(n int) []slotset.Row {
	all := d.scratch()
	all.spare = atLeast(all.spare, n)
	return all.spare
}

// reorder arranges rows and notes them as changed for Defragment.
func (d *Set) reorder(first int, order, spare []slotset.Row) {
	if d.arrange(first, order, spare) > 0 {
		d.touchRange(first, first+len(order))
	}
}

// arrange moves the item at row order[k], a permutation from first on, to row first+k. It
// returns the number of moves and overwrites order and spare.
func (d *Set) arrange(first int, order, spare []slotset.Row) (moves int) {
	k := 0
	// Rows in place at the front stay: a sorted map is not touched.
	for k < len(order) && int(order[k]) == first+k {
		k++
	}
	if k == len(order) {
		return 0
	}
	first, order, spare = first+k, order[k:], spare[k:]
	// Owners first: they read the old meta set.
	d.arrangeOwners(first, order, spare)
	for _, c := range d.Columns() {
		c.arrange(first, order, spare)
	}
	all := d.scratch()
	return arrange(d.typ, d.items, &all.gathered, &all.one, first, order)
}

// arrange overwrites order unless elements are small. gathered and one are scratch.
func arrange(t *items.Type, all items.Slice, gathered, one *items.Slice, first int, order []slotset.Row) (moves int) {
	if t.Size <= lineBytes {
		*gathered = gather(t, all, *gathered, first, order)
		for k, row := range order {
			if int(row) != first+k {
				moves++
			}
		}
		return moves
	}
	if one.Cap() == 0 {
		*one = t.Make(1)
	}
	return permute(t, all, *one, first, order)
}

// arrangeOwners moves the slots in the meta set and gives each its new row (S2).
func (d *Set) arrangeOwners(first int, order, spare []slotset.Row) {
	for k, row := range order {
		spare[k] = slotset.Row(d.meta[row])
	}
	// Iterations panic: rows have moved.
	d.changes += slotset.Reordered
	meta := d.meta[first : first+len(order)]
	for k, slot := range spare[:len(order)] {
		meta[k] = slotset.Slot(slot)
		d.set.SetRow(slotset.Slot(slot), slotset.Row(first+k))
	}
}

// All addresses are known in advance, so reads overlap (op=sort).
func gather(t *items.Type, all, gathered items.Slice, first int, order []slotset.Row) items.Slice {
	gathered = t.Gather(gathered, all, order)
	t.Copy(all.Sub(first, first+len(order), t.Size), gathered)
	// The scratch memory must not keep items alive.
	if t.Pointers {
		t.Clear(gathered)
	}
	return gathered
}

// permute moves large elements once each, along the cycles, with scratch for one.
func permute(t *items.Type, all, single items.Slice, first int, order []slotset.Row) (moves int) {
	one := single.Pointer(0, t.Size)
	element := func(k int) unsafe.Pointer { return all.Pointer(first+k, t.Size) }
	for begin := range order {
		from := int(order[begin]) - first
		if from == begin {
			continue
		}
		t.Set(one, element(begin))
		at := begin
		for from != begin {
			t.Set(element(at), element(from))
			// A row that is in place marks the cycle as done.
			order[at] = slotset.Row(at + first)
			at, from = from, int(order[from])-first
			moves++
		}
		t.Set(element(at), one)
		order[at] = slotset.Row(at + first)
		moves++
	}
	t.Clear(single)
	return moves
}

// exchange exchanges two rows with their owners and elements.
func (d *Set) exchange(a, b slotset.Row) {
	d.changes += slotset.Reordered
	d.typ.Exchange(d.items, a, b)
	for _, c := range d.Columns() {
		c.Kind.Type.Exchange(c.all, a, b)
	}
	d.meta[a], d.meta[b] = d.meta[b], d.meta[a]
	d.set.SetRow(d.meta[a], a)
	d.set.SetRow(d.meta[b], b)
}
