package rows

import "handloom/internal/sparse"

// runLength is the length of the runs that are sorted by insertion before
// merging begins (op=sort).
const runLength = 10

// mergeSort sorts the rows in order by comparing the items they stand for, and
// returns them in either order or spare, which is as long, and then the other.
// It is stable. Sorting rows and not items lets cmp see every item where it lies,
// so that nothing is copied for it.
func mergeSort[T any](items []T, order, spare []sparse.Row, cmp func(a, b *T) int) (sorted, rest []sparse.Row) {
	for lo := 0; lo < len(order); lo += runLength {
		insertionSort(items, order[lo:min(lo+runLength, len(order))], cmp)
	}
	return mergeRuns(items, order, spare, runLength, cmp)
}

// mergeRuns is mergeSort of rows of which every width are in order.
func mergeRuns[T any](items []T, order, spare []sparse.Row, width int, cmp func(a, b *T) int) (sorted, rest []sparse.Row) {
	for ; width < len(order); width *= 2 {
		for lo := 0; lo < len(order); lo += 2 * width {
			mid := min(lo+width, len(order))
			hi := min(lo+2*width, len(order))
			merge(items, spare[lo:hi], order[lo:mid], order[mid:hi], cmp)
		}
		order, spare = spare, order
	}
	return order, spare
}

func insertionSort[T any](items []T, rows []sparse.Row, cmp func(a, b *T) int) {
	for i := 1; i < len(rows); i++ {
		row := rows[i]
		item := &items[row]
		j := i
		for ; j > 0 && cmp(&items[rows[j-1]], item) > 0; j-- {
			rows[j] = rows[j-1]
		}
		rows[j] = row
	}
}

// merge merges the sorted runs left and right into dst. The loop is kept whole
// for speed (op=sort).
func merge[T any](items []T, dst, left, right []sparse.Row, cmp func(a, b *T) int) {
	if len(right) == 0 || cmp(&items[left[len(left)-1]], &items[right[0]]) <= 0 {
		copy(dst[copy(dst, left):], right)
		return
	}
	l, r := 0, 0
	a, b := left[0], right[0]
	itemA, itemB := &items[a], &items[b]
	for i := range dst {
		if cmp(itemA, itemB) <= 0 { // the left one of equals comes first
			dst[i] = a
			if l++; l >= len(left) {
				copy(dst[i+1:], right[r:])
				return
			}
			a = left[l]
			itemA = &items[a]
		} else {
			dst[i] = b
			if r++; r >= len(right) {
				copy(dst[i+1:], left[l:])
				return
			}
			b = right[r]
			itemB = &items[b]
		}
	}
}
