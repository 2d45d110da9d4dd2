package handlemap

import (
	"fmt"
	"unsafe"

	"handloom/internal/sparse"
)

const (
	lineBytes  = 64      // of the nearest memory: items up to here are cheaper to move than to fetch
	blockBytes = 1 << 16 // of such items that are sorted before larger distances are (op=sort)
)

// SortFunc orders the dense set by cmp, which is negative when a comes first.
// The sort is stable. Every handle keeps naming its item; pointers are no longer
// good. cmp sees the items where they lie; it may not change the map, and when
// it panics every item is where it was before.
//
// SortFunc takes O(n log n) comparisons, about n if the items are in order
// already. Its scratch, which the map keeps until [Map.Shrink], is 12 bytes per
// item and, for items of up to 64 bytes, room for as many items (op=sort).
func (m *Map[T]) SortFunc(cmp func(a, b *T) int) {
	m.guard("SortFunc")
	m.sortRange(0, len(m.items), cmp)
}

// SortRange orders the rows i to j-1 as [Map.SortFunc] orders all. It panics
// unless 0 <= i <= j <= Len().
func (m *Map[T]) SortRange(i, j int, cmp func(a, b *T) int) {
	m.guard("SortRange")
	if i < 0 || i > j || j > len(m.items) {
		panic(fmt.Sprintf("handlemap: SortRange of rows %d to %d of a map of %d", i, j, len(m.items)))
	}
	m.sortRange(i, j, cmp)
}

func (m *Map[T]) sortRange(i, j int, cmp func(a, b *T) int) {
	m.busy++
	defer func() { m.busy-- }()
	if size := int(unsafe.Sizeof(*new(T))); 0 < size && size <= lineBytes && (j-i)*size > 2*blockBytes {
		m.sortBlocks(i, j, blockBytes/size, cmp)
		return
	}
	order, spare := mergeSort(m.items, m.rowsFrom(i, j), m.spareRows(j-i), cmp)
	m.reorder(i, order, spare)
}

// sortBlocks orders block after block, each small enough for the nearest memory,
// and then merges them. Merging rows that lie in order reads memory forwards;
// without the blocks it would jump about in it, once for every comparison.
func (m *Map[T]) sortBlocks(i, j, block int, cmp func(a, b *T) int) {
	order, spare := m.rowsFrom(i, j), m.spareRows(j-i)
	m.origin = m.origin[:0]
	moves, merged := 0, false
	defer func() {
		if !merged {
			m.restore(i)
		}
	}()
	for lo := 0; lo < len(order); lo += block {
		hi := min(lo+block, len(order))
		sorted, rest := mergeSort(m.items, order[lo:hi], spare[lo:hi], cmp)
		m.origin = append(m.origin, sorted...)
		moves += m.arrange(i+lo, sorted, rest)
	}
	order, spare = mergeRuns(m.items, m.rowsFrom(i, j), spare, block, cmp)
	merged = true
	if moves += m.arrange(i, order, spare); moves > 0 {
		m.touchRange(i, j)
	}
}

// restore moves the items from row i on back to the rows in m.origin.
func (m *Map[T]) restore(i int) {
	n := len(m.origin)
	order := m.rowsFrom(i, i+n)
	for k, row := range m.origin {
		order[int(row)-i] = sparse.Row(i + k)
	}
	m.arrange(i, order, m.spareRows(n))
}
