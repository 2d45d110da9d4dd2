package handlemap

import (
	"fmt"
	"math"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Defragment orders the dense set by cmp a little at a time: it makes at most
// budget comparisons and exchanges of rows, counted together, and goes on in the
// next call where this one stopped. A budget of 0 is no bound; a negative one
// panics. It returns the moves it made (exchanges or, without a bound, items
// moved straight to their rows) and whether the map is in order now. Every handle
// keeps naming its item; pointers are no longer good. Items that compare equal may
// end in any order.
//
// Defragment knows what inserting, erasing and reordering changed. Keys changed
// in place must be reported by [Map.Touch], and cmp must be the same function in
// every call; done means in order only then. Defragment(nil, 0) forgets what is
// known, for another cmp or after changes that nobody noted; it returns 0 and
// false.
//
// After k changes it takes O(k log n) comparisons and at most n moves over all
// calls, whatever their budgets. Changes made between two calls of such a round
// undo nothing; they are left for a next one. Without changes a call takes O(1)
// time. Besides, a round takes O(n) time and up to 16 bytes of scratch per item,
// which the map keeps until [Map.Shrink] (op=defragment).
//
// cmp sees the items where they lie; it may not change the map. When it panics
// the work done so far is kept.
//
// The idea is from "Game Engine Containers - handle_map" (Jeff Kiah), where an
// insertion sort stops when its budget is used up. It begins anew at the first
// row in every call and cannot tell a pause from the end; the cursor and the set
// of changed rows are what is new here.
func (m *Map[T]) Defragment(cmp func(a, b *T) int, budget int) (moves int, done bool) {
	m.guard("Defragment")
	if budget < 0 {
		panic(fmt.Sprintf("handlemap: Defragment with a budget of %d; 0 is no bound", budget))
	}
	if cmp == nil {
		m.forgetOrder()
		return 0, false
	}
	if m.known == nil {
		m.known = new(ordering)
	}
	d := defragmenter[T]{m: m, known: m.known, cmp: cmp, left: budget, unbounded: budget == 0}
	if d.unbounded {
		d.left = math.MaxInt
	}
	m.busy++
	defer func() { m.busy-- }()
	done = d.run()
	return d.moves, done
}

// Touch notes that the item h names has changed in a way that may matter to the
// order, for [Map.Defragment]. It reports whether there is such an item, and
// takes O(1) time.
func (m *Map[T]) Touch(h handle.Of[T]) bool {
	m.guard("Touch")
	row, ok := m.set.Lookup(h.ID)
	if ok {
		m.touchRange(int(row), int(row)+1)
	}
	return ok
}

// TouchRows notes, as [Map.Touch] does, that the items at the rows i to j-1 have
// changed. It takes O((j-i)/64) time, none in a map that was never defragmented,
// and panics unless 0 <= i <= j <= Len().
func (m *Map[T]) TouchRows(i, j int) {
	m.guard("TouchRows")
	_ = m.Items()[i:j]
	m.touchRange(i, j)
}

// touchRange notes that the rows i to j-1 have changed.
func (m *Map[T]) touchRange(i, j int) {
	switch {
	case m.known == nil:
	case j-i == len(m.items):
		m.known.forget()
	default:
		m.known.changeRange(i, j)
	}
}

// forgetOrder makes every row count as changed.
func (m *Map[T]) forgetOrder() {
	if m.known != nil {
		m.known.forget()
	}
}

// defragmenter is one call of Defragment. Every step leaves map and round such
// that another call can go on from there: cmp may panic, and budgets end.
type defragmenter[T any] struct {
	m         *Map[T] // not embedded: that compiles all its methods once more for each item type
	known     *ordering
	cmp       func(a, b *T) int
	left      int // of the budget
	unbounded bool
	moves     int
}

// run works until the map is in order or the budget is used up, and reports the
// first.
func (d *defragmenter[T]) run() (done bool) {
	for {
		paused := false
		switch d.known.stage {
		case resting:
			if d.known.isDone(len(d.m.items)) {
				return true
			}
			d.known.begin(d.m.meta)
		case finding:
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

// spend takes one comparison or exchange from the budget, if any is left.
func (d *defragmenter[T]) spend() bool {
	if d.left == 0 {
		return false
	}
	d.left--
	return true
}

// rowOf returns the row of an item of the round, and false when it was erased or
// changed since the round began. A slot that was issued again is at a row that
// changed, because insertion does not settle rows.
func (d *defragmenter[T]) rowOf(slot sparse.Slot) (sparse.Row, bool) {
	word := d.m.set.Words[slot]
	row := int(uint32(word))
	if word.IsProvisional() || row >= d.known.seen || d.known.changed.count > 0 && d.known.changed.has(row) {
		return 0, false
	}
	return sparse.Row(row), true
}
