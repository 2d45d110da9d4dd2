package dense

import (
	"slices"

	"handloom/internal/slotset"
)

// beginMoving lists the items of all affected rows: the sorted items there and the round's
// items between them.
func (d *defragmenter) beginMoving() {
	o := d.known
	// The range of rows whose item changes: all others are in place.
	lo, hi := o.seen, 0
	for k, slot := range o.list {
		if row, valid := d.rowOf(slot); valid {
			place := min(int(o.places[k]), o.seen)
			lo, hi = min(lo, int(row), place), max(hi, int(row)+1, place)
		}
	}
	wanted := slices.Grow(o.spare[:0], max(hi-lo, len(o.list)))
	k := 0
	for row := lo; row < hi; row++ {
		// An item precedes the sorted row at its place.
		for ; k < len(o.list) && int(o.places[k]) <= row; k++ {
			wanted = append(wanted, o.list[k])
		}
		if o.isSorted(row) {
			wanted = append(wanted, d.m.meta[row])
		}
	}
	// Places past the range are at its end.
	wanted = append(wanted, o.list[k:]...)
	o.list, o.spare = wanted, o.list
	o.sorting.clear()
	o.enter(moving)
	o.lo, o.hi = lo, hi
}

// moveAtOnce moves all items by one permutation. It returns false if the items do not fill
// the range, because rows in it have changed since.
func (d *defragmenter) moveAtOnce() bool {
	o := d.known
	order := d.listed()
	if len(order) != o.hi-o.lo {
		return false
	}
	d.moves += d.m.arrange(o.lo, order, d.m.spareRows(len(order)))
	o.rest()
	return true
}

// move fills row after row by exchanges. The slot of a displaced item still finds it.
func (d *defragmenter) move() bool {
	o := d.known
	for ; o.at < len(o.list); o.at++ {
		row, valid := d.rowOf(o.list[o.at])
		// Erased or changed meanwhile: the next round has it.
		if !valid {
			continue
		}
		if int(row) != o.lo {
			if !d.spend() {
				return false
			}
			d.m.exchange(row, slotset.Row(o.lo))
			o.changed.exchange(int(row), o.lo)
			d.moves++
		}
		o.lo++
	}
	o.rest()
	return true
}
