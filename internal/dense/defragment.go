package dense

import (
	"fmt"
	"math"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// comparison has the typed functions of a Defragment.
type comparison struct {
	compare   func(a, b slotset.Row) int // nil: forget the order
	mergeSort func(order, spare []slotset.Row) (sorted, rest []slotset.Row)
}

// Defragment orders the dense set by cmp in small steps; see handlemap.Map.Defragment. Its
// stages compare by row and are independent of T (op=defragment).
func Defragment[T any](d *Set, cmp func(a, b *T) int, budget int) (moves int, done bool) {
	Bind[T](d)
	if cmp == nil {
		return d.defragment(comparison{}, budget)
	}
	all, sorted := *items.As[T](&d.items), d.array()
	return d.defragment(comparison{
		compare: func(a, b slotset.Row) int { return cmp(&all[a], &all[b]) },
		mergeSort: func(order, spare []slotset.Row) ([]slotset.Row, []slotset.Row) {
			return sorted.mergeSort(order, spare, items.Compare(cmp))
		},
	}, budget)
}

// defragment is Defragment without T.
func (d *Set) defragment(by comparison, budget int) (moves int, done bool) {
	d.guard("Defragment")
	if budget < 0 {
		panic(fmt.Sprintf("handlemap: Defragment with a budget of %d; it must not be negative", budget))
	}
	// A new comparison needs another order, so the caller first drops the old one.
	if by.compare == nil {
		d.forgetOrder()
		return 0, false
	}
	followers := d.following()
	if followers.known == nil {
		followers.known = new(ordering)
	}
	f := defragmenter{m: d, known: followers.known, comparison: by, left: budget, unbounded: budget == 0}
	if f.unbounded {
		f.left = math.MaxInt
	}
	// The comparison is user code, which must not change rows between two steps.
	d.busy++
	defer func() { d.busy-- }()
	done = f.run()
	return f.moves, done
}

// Touch marks the item as changed for Defragment, in O(1) time.
func (d *Set) Touch(id handle.ID) bool {
	d.guard("Touch")
	row, ok := d.set.Lookup(id)
	if ok {
		d.touchRange(int(row), int(row)+1)
	}
	return ok
}

// TouchRows takes O((j-i)/64) time, none in a map that was never defragmented. It panics
// unless 0 <= i <= j <= Len().
func (d *Set) TouchRows(i, j int) {
	d.guard("TouchRows")
	_ = d.meta[:len(d.meta):len(d.meta)][i:j]
	d.touchRange(i, j)
}

// touchRange notes that the items of the rows i to j-1 may have another place in the order.
func (d *Set) touchRange(i, j int) {
	switch known := d.ordering(); {
	case known == nil:
	// All rows have changed, so all progress is lost.
	case j-i == len(d.meta):
		known.forget()
	default:
		known.changeRange(i, j)
	}
}

// forgetOrder drops the progress of Defragment.
func (d *Set) forgetOrder() {
	if known := d.ordering(); known != nil {
		known.forget()
	}
}

// defragmenter is one call of Defragment. After every step another call can continue,
// because a comparison may panic or the budget may end.
type defragmenter struct {
	m     *Set
	known *ordering
	comparison
	left      int
	unbounded bool
	moves     int
}

// run runs stage after stage until the order is complete or the budget ends.
func (d *defragmenter) run() (done bool) {
	for {
		paused := false
		switch d.known.stage {
		case resting:
			if d.known.isDone(len(d.m.meta)) {
				return true
			}
			d.known.begin(d.m.meta)
		case finding:
			// Without a bound a normal sort is faster than rounds that can pause.
			if d.unbounded && d.known.at == 0 {
				d.sortAtOnce()
			} else {
				paused = !d.findRuns()
			}
		case merging:
			paused = !d.mergeRuns()
		case placing:
			paused = !d.place()
		case moving:
			if !d.unbounded || d.known.at > 0 || !d.moveAtOnce() {
				paused = !d.move()
			}
		}
		if paused {
			return false
		}
	}
}

// spend takes one comparison or exchange from the budget. It returns false if nothing is
// left.
func (d *defragmenter) spend() bool {
	if d.left == 0 {
		return false
	}
	d.left--
	return true
}

// rowOf returns false if the item was erased or changed since the round began. New rows
// count as changed, so reissued slots are found changed.
func (d *defragmenter) rowOf(slot slotset.Slot) (slotset.Row, bool) {
	word := d.m.set.Words[slot]
	row := int(uint32(word))
	if word.IsProvisional() || row >= d.known.seen || d.known.changed.count > 0 && d.known.changed.has(row) {
		return 0, false
	}
	return slotset.Row(row), true
}
