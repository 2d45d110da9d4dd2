package dense

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"handloom/internal/slotset"
)

const (
	digitBits = 11 // per radix pass: few passes, and the counters fit the nearest cache
	fewKeys   = 256
)

// keyed is a key with its row, for a sort of keys without the items.
type keyed struct {
	key uint64
	row slotset.Row
}

// SortByKey orders the dense set by ascending key; see handlemap.Map.SortByKey.
func (d *Set) SortByKey(key func(item unsafe.Pointer) uint64) {
	d.guard("SortByKey")
	all := d.scratch()
	all.keys = atLeast(all.keys, len(d.meta))
	keys := all.keys
	differ, sorted := d.readKeys(keys, key)
	if sorted {
		return
	}
	if len(keys) < fewKeys || !d.sortByRank(keys, differ) {
		d.sortKeys(keys, differ)
	}
}

// atLeast returns n elements of scratch memory, of any content.
func atLeast[E any](scratch []E, n int) []E {
	if cap(scratch) < n {
		return make([]E, n) // new pages are zero already; [slices.Grow] clears them again (op=firstsort)
	}
	return scratch[:n]
}

// readKeys fills keys in dense order. It returns the bits in which keys differ and whether
// they ascend.
func (d *Set) readKeys(keys []uint64, key func(item unsafe.Pointer) uint64) (differ uint64, sorted bool) {
	d.busy++
	defer func() { d.busy-- }()
	sorted = true
	all, last := d.array(), uint64(0)
	for row := range keys {
		k := key(all.at(slotset.Row(row)))
		keys[row] = k
		sorted = sorted && k >= last
		differ |= k ^ keys[0]
		last = k
	}
	return differ, sorted
}

// sortKeys sorts by whole keys, for few keys or keys whose ranks are not distinct enough.
func (d *Set) sortKeys(keys []uint64, differ uint64) {
	n := len(keys)
	all := d.scratch()
	all.keyed = atLeast(all.keyed, 2*n)
	sorted, spare := all.keyed[:n:n], all.keyed[n:]
	for row, key := range keys {
		sorted[row] = keyed{key, slotset.Row(row)}
	}
	sorted = radixSort(sorted, spare, differ)
	order := d.rowsFrom(0, n)
	for i, k := range sorted {
		order[i] = k.row
	}
	d.reorder(0, order, d.spareRows(n))
}

// radixSort sorts keys stably, digit by digit from the lowest, without the digits in which
// no two differ. It returns the sorted slice: keys or spare, of the same length.
func radixSort(keys, spare []keyed, differ uint64) []keyed {
	if len(keys) < fewKeys {
		slices.SortStableFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
		return keys
	}
	low, high := bits.TrailingZeros64(differ), bits.Len64(differ)
	passes := digits(high - low)
	width := (high - low + passes - 1) / passes // digits of equal width
	for shift := low; shift < high; shift += width {
		// All keys agree in other digits.
		if differ>>shift&(1<<width-1) != 0 {
			radixPass(keys, spare, shift, width)
			keys, spare = spare, keys
		}
	}
	return keys
}

// radixPass is one stable distribution by the digit of width bits at shift. Its loops are
// branch-free for speed (op=sort/impl=SortByKey).
func radixPass(keys, dst []keyed, shift, width int) {
	var counters [1 << digitBits]uint32
	next := counters[:1<<width]
	mask := uint64(len(next) - 1)
	for i := range keys {
		next[keys[i].key>>(shift&63)&mask]++
	}
	at := uint32(0)
	for d, count := range next {
		next[d] = at
		at += count
	}
	for _, k := range keys {
		d := k.key >> (shift & 63) & mask
		dst[next[d]] = k
		next[d]++
	}
}
