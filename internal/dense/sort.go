package dense

import (
	"fmt"
	"unsafe"

	"handloom/internal/slotset"
)

const (
	lineBytes  = 64      // of the nearest memory: items up to here are cheaper to move than to fetch
	blockBytes = 1 << 16 // of such items that are sorted before larger distances are (op=sort)
)

// SortFunc orders the dense set by cmp; see handlemap.Map.SortFunc.
func (d *Set) SortFunc(cmp func(a, b unsafe.Pointer) int) {
	d.guard("SortFunc")
	d.sortRange(0, len(d.meta), cmp)
}

// SortRange orders the rows i to j-1 as [Set.SortFunc] orders all.
func (d *Set) SortRange(i, j int, cmp func(a, b unsafe.Pointer) int) {
	d.guard("SortRange")
	if i < 0 || i > j || j > len(d.meta) {
		panic(fmt.Sprintf("handlemap: SortRange of rows %d to %d of a map of %d", i, j, len(d.meta)))
	}
	d.sortRange(i, j, cmp)
}

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

// sortBlocks orders block after block, each small enough for the nearest memory,
// and then merges them. Merging rows that lie in order reads memory forwards;
// without the blocks it would jump about in it, once for every comparison.
func (d *Set) sortBlocks(i, j, block int, cmp func(a, b unsafe.Pointer) int) {
	all, order, spare := d.array(), d.rowsFrom(i, j), d.spareRows(j-i)
	d.scratch.origin = d.scratch.origin[:0]
	moves, merged := 0, false
	defer func() {
		if !merged {
			d.restore(i)
		}
	}()
	for lo := 0; lo < len(order); lo += block {
		hi := min(lo+block, len(order))
		sorted, rest := all.mergeSort(order[lo:hi], spare[lo:hi], cmp)
		d.scratch.origin = append(d.scratch.origin, sorted...)
		moves += d.arrange(i+lo, sorted, rest)
	}
	order, spare = all.mergeRuns(d.rowsFrom(i, j), spare, block, cmp)
	merged = true
	if moves += d.arrange(i, order, spare); moves > 0 {
		d.touchRange(i, j)
	}
}

// restore moves the items from row i on back to the rows in origin.
func (d *Set) restore(i int) {
	origin := d.scratch.origin
	order := d.rowsFrom(i, i+len(origin))
	for k, row := range origin {
		order[int(row)-i] = slotset.Row(i + k)
	}
	d.arrange(i, order, d.spareRows(len(origin)))
}
