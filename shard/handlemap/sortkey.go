package handlemap

import (
	"cmp"
	"math/bits"
	"slices"

	"handloom/internal/sparse"
)

const (
	digitBits = 11 // of a radix pass: few passes, and the counters fit the nearest cache
	fewKeys   = 256
)

// keyed is a row and the key of its item.
type keyed struct {
	key uint64
	row sparse.Row
}

// SortByKey orders the dense set by ascending key. The sort is stable. Every
// handle keeps naming its item; pointers are no longer good. key sees every item
// once, in dense order; it may not change the map, and when it panics nothing
// has moved.
//
// SortByKey takes O(n) time for each 11 bits by which keys differ, O(n) in all
// if the items are in order already. Its scratch is that of [Map.SortFunc] and 32
// bytes per item (op=sort).
func (m *Map[T]) SortByKey(key func(*T) uint64) {
	m.guard("SortByKey")
	n := len(m.items)
	m.keys = slices.Grow(m.keys[:0], 2*n)[:2*n]
	keys, spare := m.keys[:n:n], m.keys[n:]
	differ, sorted := m.readKeys(keys, key)
	if sorted {
		return
	}
	keys = radixSort(keys, spare, differ)
	order := m.rowsFrom(0, n)
	for i, k := range keys {
		order[i] = k.row
	}
	m.reorder(0, order, m.spareRows(n))
}

// readKeys fills keys in dense order. It returns the bits in which they differ
// and whether they ascend.
func (m *Map[T]) readKeys(keys []keyed, key func(*T) uint64) (differ uint64, sorted bool) {
	m.busy++
	defer func() { m.busy-- }()
	sorted = true
	var last uint64
	for row := range m.items {
		k := key(&m.items[row])
		keys[row] = keyed{k, sparse.Row(row)}
		sorted = sorted && k >= last
		differ |= k ^ keys[0].key
		last = k
	}
	return differ, sorted
}

// radixSort sorts keys digit by digit from the lowest, passing over digits in
// which no two differ. It is stable, uses spare, of the same length, and returns
// the one of the two that holds the result.
func radixSort(keys, spare []keyed, differ uint64) []keyed {
	if len(keys) < fewKeys {
		slices.SortStableFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
		return keys
	}
	low, high := bits.TrailingZeros64(differ), bits.Len64(differ)
	passes := (high - low + digitBits - 1) / digitBits
	width := (high - low + passes - 1) / passes // digits of equal width
	for shift := low; shift < high; shift += width {
		if differ>>shift&(1<<width-1) != 0 {
			radixPass(keys, spare, shift, width)
			keys, spare = spare, keys
		}
	}
	return keys
}

// radixPass is one stable distribution by the digit of width bits at shift. Its
// loops are kept straight (op=sort/impl=SortByKey).
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
