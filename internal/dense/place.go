package dense

import (
	"math/bits"
	"slices"

	"handloom/internal/slotset"
)

// beginPlacing begins to find the places of the sorted list.
func (o *ordering) beginPlacing() {
	o.enter(placing)
	o.places = slices.Grow(o.places[:0], len(o.list))
	o.linkWords()
	o.top = o.seen
	o.beginSearch()
}

// linkWords makes each word its own next word: nothing is skipped yet.
func (o *ordering) linkWords() {
	words := (o.seen + 63) / 64
	o.skips = slices.Grow(o.skips[:0], words+1)[:words+1]
	for w := range o.skips {
		o.skips[w] = uint32(w)
	}
}

// beginSearch guesses at the average distance and doubles it each time: O(log(n/k))
// comparisons for one of k items, so many items need no more than a merge.
func (o *ordering) beginSearch() {
	o.hi = o.top
	o.step = max(o.top-o.lo, 0)/(len(o.list)-len(o.places)+1) + 1
}

// place finds the place of each item. The list is sorted, so the search continues where the
// search for the previous item ended.
func (d *defragmenter) place() bool {
	o := d.known
	o.top, o.hi = min(o.top, o.seen), min(o.hi, o.seen) // rows may have been erased
	for len(o.places) < len(o.list) {
		row, valid := d.rowOf(o.list[len(o.places)])
		for valid && o.lo < o.hi {
			if !d.narrow(row) {
				return false
			}
		}
		o.places = append(o.places, slotset.Row(o.lo))
		o.beginSearch()
	}
	d.beginMoving()
	return true
}

// narrow halves the range of the current item, or doubles the distance of the guess. It
// returns false if the budget ends.
func (d *defragmenter) narrow(row slotset.Row) bool {
	o := d.known
	guess := o.lo + o.step - 1
	if o.step == 0 || guess >= o.hi {
		guess = o.lo + (o.hi-o.lo)/2
	}
	at := o.nextSorted(guess, o.hi)
	switch {
	case at == o.hi:
		if o.hi == o.top {
			o.top = guess
		}
		o.hi, o.step = guess, 0
	case !d.spend():
		return false
	case d.compare(slotset.Row(at), row) <= 0:
		// Past all rows the guess is useless; the limit ends the doubling.
		o.lo, o.step = at+1, min(o.step*2, 2*o.seen+2)
	default:
		o.hi, o.step = guess, 0
	}
	return true
}

// nextSorted returns the first sorted row in [row, hi), or hi.
//
// While places are sought no row becomes sorted, so a bitmap word without sorted rows remains
// so. skips[w] is a word at or above w, with no sorted row between. Path halving makes long
// runs of changed rows as cheap as short runs.
func (o *ordering) nextSorted(row, hi int) int {
	w := row / 64
	word := ^(o.changed.word(w) | o.sorting.word(w)) >> (row % 64) << (row % 64)
	for word == 0 {
		w = o.skip(w + 1)
		if w*64 >= hi {
			return hi
		}
		if word = ^(o.changed.word(w) | o.sorting.word(w)); word == 0 {
			o.skips[w] = uint32(w + 1)
		}
	}
	return min(hi, w*64+bits.TrailingZeros64(word))
}

// skip returns the first word at or above w that may have sorted rows.
func (o *ordering) skip(w int) int {
	for int(o.skips[w]) != w {
		o.skips[w] = o.skips[o.skips[w]]
		w = int(o.skips[w])
	}
	return w
}
