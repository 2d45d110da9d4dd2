package dense

import (
	"slices"

	"handloom/internal/slotset"
)

// begin begins a round with all changed rows.
func (o *ordering) begin(meta []slotset.Slot) {
	n := len(meta)
	o.changed.grow(n)
	o.sorting.grow(n)
	o.changed.addRange(o.seen, n)
	o.seen = n
	// The round takes the changed rows, and the set of changes is empty again. Rest left
	// sorting empty (O2).
	o.changed, o.sorting = o.sorting, o.changed
	o.list = slices.Grow(o.list[:0], o.sorting.count)
	for row := range o.sorting.all() {
		o.list = append(o.list, meta[row])
	}
	o.enter(finding)
}

// listed returns the rows of the list.
func (d *defragmenter) listed() []slotset.Row {
	order := d.m.rowsFrom(0, len(d.known.list))[:0]
	for _, slot := range d.known.list {
		if row, valid := d.rowOf(slot); valid {
			order = append(order, row)
		}
	}
	return order
}

// sortAtOnce sorts the whole list in one step, instead of finding and merging.
func (d *defragmenter) sortAtOnce() {
	o := d.known
	order := d.listed()
	order, _ = d.mergeSort(order, d.m.spareRows(len(order)))
	o.list = o.list[:0]
	for _, row := range order {
		o.list = append(o.list, d.m.meta[row])
	}
	o.beginPlacing()
}

// findRuns cuts the list into ascending runs, so that a nearly sorted list needs few
// comparisons.
func (d *defragmenter) findRuns() bool {
	o := d.known
	for ; o.at < len(o.list); o.at++ {
		// The first item has no neighbour.
		if o.at == 0 {
			continue
		}
		a, valid := d.rowOf(o.list[o.at-1])
		b, valid2 := d.rowOf(o.list[o.at])
		if valid = valid && valid2; valid && !d.spend() {
			return false
		}
		// An item that left the round ends a run, because it cannot be compared.
		if !valid || d.compare(a, b) > 0 {
			o.ends = append(o.ends, uint32(o.at))
		}
	}
	o.ends = append(o.ends, uint32(len(o.list)))
	o.spare = slices.Grow(o.spare[:0], len(o.list))[:len(o.list)]
	o.enter(merging)
	return true
}

// mergeRuns merges pairs of runs until one is left.
func (d *defragmenter) mergeRuns() bool {
	o := d.known
	for len(o.ends) > 1 {
		for o.pair < len(o.ends) {
			mid := int(o.ends[o.pair])
			hi := int(o.ends[min(o.pair+1, len(o.ends)-1)])
			o.right = max(o.right, mid)
			if !d.mergePair(mid, hi) {
				return false
			}
			// made is at most pair, so no end is overwritten before it is read.
			o.ends[o.made] = uint32(hi)
			o.made++
			o.pair += 2
			o.left = hi
		}
		o.list, o.spare, o.ends = o.spare, o.list, o.ends[:o.made]
		o.enter(merging)
	}
	o.beginPlacing()
	return true
}

// mergePair merges the runs that end at mid and hi. An item that left the round goes first
// and costs nothing.
func (d *defragmenter) mergePair(mid, hi int) bool {
	o := d.known
	for o.left < mid && o.right < hi {
		out := o.left + o.right - mid
		a, valid := d.rowOf(o.list[o.left])
		b, valid2 := d.rowOf(o.list[o.right])
		first := !valid
		if valid && valid2 {
			if !d.spend() {
				return false
			}
			first = d.compare(a, b) <= 0
		}
		if first {
			o.spare[out] = o.list[o.left]
			o.left++
		} else {
			o.spare[out] = o.list[o.right]
			o.right++
		}
	}
	out := o.left + o.right - mid
	out += copy(o.spare[out:], o.list[o.left:mid])
	copy(o.spare[out:], o.list[o.right:hi])
	return true
}
