package dense

import (
	"slices"
	"unsafe"

	"handloom/handle"
	"handloom/internal/slotset"
)

// SortAs moves the items of ids to the first rows in the order of ids; see
// handlemap.Map.SortAs.
func (d *Set) SortAs(ids []handle.ID) {
	d.guard("SortAs")
	order, spare := d.rowsFrom(0, len(d.meta)), d.spareRows(len(d.meta))
	order = order[:0]
	marks := d.scratchMarks()
	for _, id := range ids {
		// Stale and repeated handles mark nothing.
		if d.Mark(marks, id) == slotset.Marked {
			row, _ := d.set.Lookup(id)
			order = append(order, row)
		}
	}
	for row := range d.meta {
		if !marks.Rows.Has(row) {
			order = append(order, slotset.Row(row))
		}
	}
	marks.Clear()
	d.reorder(0, order, spare)
}

// Partition moves the items for which pred returns true to the first rows and returns their
// number; see handlemap.Map.Partition.
func (d *Set) Partition(pred func(item unsafe.Pointer) bool) int {
	d.guard("Partition")
	order, spare := d.rowsFrom(0, len(d.meta)), d.spareRows(len(d.meta))
	front := d.choose(order, pred)
	d.reorder(0, order, spare)
	return front
}

// choose writes the chosen rows to the front of order and the others after them, and
// returns the number of chosen rows.
func (d *Set) choose(order []slotset.Row, pred func(item unsafe.Pointer) bool) int {
	d.busy++
	defer func() { d.busy-- }()
	front, back := 0, len(order)
	all := d.array()
	for row := range len(order) {
		if pred(all.at(slotset.Row(row))) {
			order[front] = slotset.Row(row)
			front++
		} else {
			back--
			order[back] = slotset.Row(row)
		}
	}
	// The rows that were not chosen were written from the end; this restores their order.
	slices.Reverse(order[back:])
	return front
}

// Swap exchanges the rows of two items; see handlemap.Map.Swap.
func (d *Set) Swap(a, b handle.ID) bool {
	d.guard("Swap")
	r1, ok1 := d.set.Lookup(a)
	r2, ok2 := d.set.Lookup(b)
	if ok1 && ok2 && r1 != r2 {
		d.exchange(r1, r2)
		d.touchRange(int(r1), int(r1)+1)
		d.touchRange(int(r2), int(r2)+1)
	}
	return ok1 && ok2
}
