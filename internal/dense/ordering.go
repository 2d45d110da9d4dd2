package dense

import "handloom/internal/slotset"

// ordering is what a map knows about the order of its rows, and the round of
// sorting that [Set.Defragment] is in the middle of.
//
// A row is settled when it lies below seen and in neither set. Settled rows are
// in order among each other (O4), so that only the others need comparing: a
// round takes the changed ones, sorts them, finds their places among the settled
// and moves everything there. What changes meanwhile waits for the next round,
// so that no change throws work away.
type ordering struct {
	seen    int    // rows from here on are changed without being in a set (O1)
	changed rowSet // since the round began, below seen (O1)
	sorting rowSet // rows of the round's items until their places are known (O2)
	round
}

// A stage of a round. One ends where the next begins.
type stage uint8

const (
	resting stage = iota // no round
	finding              // the ascending runs in list
	merging              // them, pair by pair
	placing              // list is sorted; each item's place among the settled rows
	moving               // list is what the rows from cursor.lo on shall hold
)

// round is the work in progress. Items are kept as slots, which stay when rows
// move: one that was erased or changed since is told when it is met, and passed
// over.
type round struct {
	stage  stage
	list   []slotset.Slot // the round's items
	spare  []slotset.Slot // where runs are merged to
	ends   []uint32       // where each run in list ends
	places []slotset.Row  // by item of list: the settled rows below come before it
	skips  []uint32       // see nextSorted
	cursor
}

// cursor is how far a stage has got. It starts from zero.
type cursor struct {
	at    int // finding, moving: index in list
	pair  int // merging: index in ends of the first run of the two
	made  int // merging: runs made
	left  int // merging: index in list of the next of the first run
	right int // merging: the same of the second, or less when none was taken
	lo    int // placing: settled rows below come before the item; moving: the row to fill next
	hi    int // placing: settled rows from here on come after it; moving: end of the rows to fill
	top   int // placing: no settled row from here on
	step  int // placing: rows to the next guess; 0 when hi was guessed
}

// isSorted reports whether row, which is below seen, is in no set.
func (o *ordering) isSorted(row int) bool { return !o.changed.has(row) && !o.sorting.has(row) }

// change notes that the item at row is another one, or has another key.
func (o *ordering) change(row int) { o.changeRange(row, row+1) }

func (o *ordering) changeRange(lo, hi int) {
	hi = min(hi, o.seen)
	o.changed.addRange(lo, hi)
	o.sorting.removeRange(lo, hi)
}

// shorten notes that only the rows below n are left.
func (o *ordering) shorten(n int) {
	if n < o.seen {
		o.changed.removeRange(n, o.seen)
		o.sorting.removeRange(n, o.seen)
		o.seen = n
	}
}

// erased notes a bulk erase that leaves kept rows.
func (o *ordering) erased(moves []slotset.Move, kept int) {
	o.shorten(kept)
	for _, move := range moves {
		o.change(int(move.To))
	}
}

// forget drops all knowledge and keeps the memory.
func (o *ordering) forget() {
	o.changed.clear()
	o.sorting.clear()
	o.seen = 0
	o.rest()
}

// rest ends the round.
func (o *ordering) rest() {
	o.enter(resting)
	o.list, o.spare, o.ends, o.places = o.list[:0], o.spare[:0], o.ends[:0], o.places[:0]
}

func (o *ordering) enter(s stage) { o.stage, o.cursor = s, cursor{} }

// isBlank reports whether nothing is known, as in a map that was never
// defragmented.
func (o *ordering) isBlank() bool { return o == nil || o.seen == 0 && o.stage == resting }

// isDone reports whether all of n rows are settled.
func (o *ordering) isDone(n int) bool {
	return o.stage == resting && o.seen == n && o.changed.count == 0
}

// merged returns how much of spare holds merged runs.
func (o *ordering) merged() int {
	switch {
	case o.stage != merging:
		return 0
	case o.pair >= len(o.ends):
		return len(o.list)
	}
	return o.left + max(0, o.right-int(o.ends[o.pair]))
}

// shrink gives back memory that no round needs.
func (o *ordering) shrink() *ordering {
	if o.isBlank() {
		return nil
	}
	if o.stage == resting {
		o.round = round{}
	}
	return o
}
