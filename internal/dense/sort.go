package dense

import (
	"fmt"
	"unsafe"

	"handloom/internal/slotset"
)

const (
	lineBytes  = 64      // cache line: smaller items are cheaper to move than to fetch
	blockBytes = 1 << 16 // bytes of small items to sort before merging (op=sort)
)

// SortFunc orders the dense set by cmp; see handlemap.Map.SortFunc.
func (d *Set) SortFunc(cmp func(a, b unsafe.Pointer) int) {
	d.guard("SortFunc")
	d.sortRange(0, len(d.meta), cmp)
}

// SortRange is [Set.SortFunc] for the rows i to j-1.
func (d *Set) SortRange(i, j int, cmp func(a, b unsafe.Pointer) int) {
	d.guard("SortRange")
	if i < 0 || i > j || j > len(d.meta) {
		panic(fmt.Sprintf("handlemap: SortRange of rows %d to %d of a map of %d", i, j, len(d.meta)))
	}
	d.sortRange(i, j, cmp)
}

// sortRange sorts an order of rows by comparisons and then moves each item at most once.
// Small items of a large range are sorted in blocks first.
func (d *Set) sortRange(i, j int, cmp func(a, b unsafe.Pointer) int) {
	d.busy++
	defer func() { d.busy-- }()
	if size := int(d.typ.Size); 0 < size && size <= lineBytes && (j-i)*size > 2*blockBytes {
		d.sortBlocks(i, j, blockBytes/size, cmp)
		return
	}
	order, spare := d.array().mergeSort(d.rowsFrom(i, j), d.spareRows(j-i), cmp)
	d.reorder(i, order, spare)
}

// sortBlocks sorts blocks that fit the nearest cache and then merges them. Merging reads
// memory forwards; without blocks every comparison would jump.
func (d *Set) sortBlocks(i, j, block int, cmp func(a, b unsafe.Pointer) int) {
	all, order, spare := d.array(), d.rowsFrom(i, j), d.spareRows(j-i)
	origin := &d.scratch().origin
	*origin = atLeast(*origin, j-i)[:0]
	moves, merged := 0, false
	// The comparison may panic after some blocks are sorted, and a sort changes all or
	// nothing.
	defer func() {
		if !merged {
			d.restore(i)
		}
	}()
	for lo := 0; lo < len(order); lo += block {
		hi := min(lo+block, len(order))
		sorted, rest := all.mergeSort(order[lo:hi], spare[lo:hi], cmp)
		*origin = append(*origin, sorted...)
		moves += d.arrange(i+lo, sorted, rest)
	}
	order, spare = all.mergeRuns(d.rowsFrom(i, j), spare, block, cmp)
	merged = true
	if moves += d.arrange(i, order, spare); moves > 0 {
		d.touchRange(i, j)
	}
}

// restore undoes the sorted blocks by the inverse of their orders.
func (d *Set) restore(i int) {
	origin := d.scratch().origin
	order := d.rowsFrom(i, i+len(origin))
	for k, row := range origin {
		order[int(row)-i] = slotset.Row(i + k)
	}
	d.arrange(i, order, d.spareRows(len(origin)))
}
