package slotset

import "handloom/handle"

// The counter of a packed container rises with every change that an iteration by row must
// see, so an iteration compares once a step. An insert changes only rows past its end.
const (
	Removed   = 1       // per removed row
	Reordered = 2       // rows changed places, or all were replaced
	Resized   = 1 << 40 // arrays moved; multiples do not count as changes of rows
)

// MustEqual panics if two counters, or sums of them, differ by more than Resized.
func MustEqual(a, b uint64) {
	if (a-b)%Resized != 0 {
		panicMoved()
	}
}

func panicMoved() {
	panic("All: items were removed or moved during the loop; remove only the current item, or collect handles and change the rest after the loop")
}

// Resume returns the next row and the end of an iteration whose counter rose by changed at
// row. last was the last of its rows. filler is the ID at row now, or null.
func Resume(row, end int, changed uint64, live bool, filler, last handle.ID) (int, int) {
	switch changed %= Resized; {
	case changed == 0:
	case changed != Removed || live:
		panicMoved()
	case filler == last:
		return row, end - 1
	}
	return row + 1, end // nothing to repeat, or an item inserted meanwhile fills the gap
}
