package handlemap

import (
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
// SortByKey takes O(n) time for each 11 bits in which keys differ, O(n) in all
// if the items are in order already, and 32 bytes of scratch per item, which the
// map keeps (op=sortbykey).
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
	order, _ := m.scratchRows(0, n)
	for i, k := range keys {
		order[i] = k.row
	}
	m.arrange(0, order)
	m.touchRange(0, n)
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
		slices.SortStableFunc(keys, func(a, b keyed) int {
			if a.key < b.key {
				return -1
			}
			return int(min(a.key-b.key, 1))
		})
		return keys
	}
	for shift := bits.TrailingZeros64(differ); shift < 64; shift += digitBits {
		if differ>>shift == 0 {
			break
		}
		if differ>>shift&(1<<digitBits-1) == 0 {
			continue
		}
		radixPass(keys, spare, shift)
		keys, spare = spare, keys
	}
	return keys
}

// radixPass is one stable distribution by the digit at shift. Its loops are kept
// straight (op=sortbykey).
func radixPass(keys, dst []keyed, shift int) {
	var next [1 << digitBits]uint32
	for i := range keys {
		next[keys[i].key>>shift&(1<<digitBits-1)]++
	}
	at := uint32(0)
	for d, count := range next {
		next[d] = at
		at += count
	}
	for _, k := range keys {
		d := k.key >> shift & (1<<digitBits - 1)
		dst[next[d]] = k
		next[d]++
	}
}
