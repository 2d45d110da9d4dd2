package dense

import (
	"unsafe"

	"handloom/internal/slotset"
)

// array is separate from the comparison functions, with which it would escape.
type array struct {
	first unsafe.Pointer
	size  uintptr
}

func (d *Set) array() array { return array{d.items.Data(), d.typ.Size} }

func (a array) at(row slotset.Row) unsafe.Pointer {
	return unsafe.Add(a.first, uintptr(row)*a.size)
}

// runLength is the length of the runs that insertion sorts before merging begins (op=sort).
const runLength = 10

// mergeSort sorts rows, not items, so that cmp sees each item in place.
func (a array) mergeSort(order, spare []slotset.Row, cmp func(a, b unsafe.Pointer) int) (sorted, rest []slotset.Row) {
	for lo := 0; lo < len(order); lo += runLength {
		a.insertionSort(order[lo:min(lo+runLength, len(order))], cmp)
	}
	return a.mergeRuns(order, spare, runLength, cmp)
}

// mergeRuns merges sorted runs of a width until one is left. It returns it, and the other
// array.
func (a array) mergeRuns(order, spare []slotset.Row, width int, cmp func(a, b unsafe.Pointer) int) (sorted, rest []slotset.Row) {
	for ; width < len(order); width *= 2 {
		for lo := 0; lo < len(order); lo += 2 * width {
			mid := min(lo+width, len(order))
			hi := min(lo+2*width, len(order))
			a.merge(spare[lo:hi], order[lo:mid], order[mid:hi], cmp)
		}
		order, spare = spare, order
	}
	return order, spare
}

// insertionSort sorts rows stably.
func (a array) insertionSort(rows []slotset.Row, cmp func(a, b unsafe.Pointer) int) {
	for i := 1; i < len(rows); i++ {
		row := rows[i]
		item := a.at(row)
		j := i
		for ; j > 0 && cmp(a.at(rows[j-1]), item) > 0; j-- {
			rows[j] = rows[j-1]
		}
		rows[j] = row
	}
}

// merge is one loop for speed (op=sort). It is stable.
func (a array) merge(dst, left, right []slotset.Row, cmp func(a, b unsafe.Pointer) int) {
	// Runs that are in order already cost one comparison.
	if len(right) == 0 || cmp(a.at(left[len(left)-1]), a.at(right[0])) <= 0 {
		copy(dst[copy(dst, left):], right)
		return
	}
	l, r := 0, 0
	rowL, rowR := left[0], right[0]
	itemL, itemR := a.at(rowL), a.at(rowR)
	for i := range dst {
		// Equal items keep their order: left goes first.
		if cmp(itemL, itemR) <= 0 {
			dst[i] = rowL
			if l++; l >= len(left) {
				copy(dst[i+1:], right[r:])
				return
			}
			rowL = left[l]
			itemL = a.at(rowL)
		} else {
			dst[i] = rowR
			if r++; r >= len(right) {
				copy(dst[i+1:], left[l:])
				return
			}
			rowR = right[r]
			itemR = a.at(rowR)
		}
	}
}
