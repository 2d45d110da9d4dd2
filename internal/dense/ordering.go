package dense

import "handloom/internal/slotset"

// ordering is the state of [Set.Defragment] between calls.
//
// A row is sorted if it is below seen and in neither set. Sorted rows are in order among each
// other (O4), so only other rows need comparisons. A round takes the changed rows, sorts
// them, finds their places among the sorted rows and moves them there.
type ordering struct {
	seen    int    // rows from here on are changed without being in a set (O1)
	changed rowSet // changed since the round began, below seen (O1)
	sorting rowSet // rows of the round's items until their places are known (O2)
	round
}

type stage uint8

const (
	resting stage = iota
	finding       // finds the ascending runs in list
	merging       // merges the runs in pairs
	placing       // list is sorted; finds the place of each item
	moving        // list has the items for the rows from cursor.lo on
)

// round is the work in progress. It refers to items by slot, because rows move; items
// erased or changed meanwhile are skipped.
type round struct {
	stage  stage
	list   []slotset.Slot
	spare  []slotset.Slot // target of merges
	ends   []uint32
	places []slotset.Row // by item of list: the number of sorted rows before it
	skips  []uint32      // see nextSorted
	cursor
}

type cursor struct {
	at    int // finding, moving: index in list
	pair  int // merging: index in ends of the first run of the pair
	made  int // merging: number of merged runs
	left  int // merging: index in list of the next item of the first run
	right int // merging: index of the next item of the second run, or less if none was taken
	lo    int // placing: sorted rows below come before the item; moving: next row to fill
	hi    int // placing: sorted rows from here on come after the item; moving: end of the rows to fill
	top   int // placing: no sorted row from here on
	step  int // placing: rows to the next guess; 0 if hi was guessed
}

// isSorted reports whether a row below seen has its place.
func (o *ordering) isSorted(row int) bool { return !o.changed.has(row) && !o.sorting.has(row) }

func (o *ordering) change(row int) { o.changeRange(row, row+1) }

// changeRange notes that rows have changed. An item of the round is then taken out of it.
func (o *ordering) changeRange(lo, hi int) {
	hi = min(hi, o.seen)
	o.changed.addRange(lo, hi)
	o.sorting.removeRange(lo, hi)
}

// shorten follows erases: only the rows below n remain.
func (o *ordering) shorten(n int) {
	if n < o.seen {
		o.changed.removeRange(n, o.seen)
		o.sorting.removeRange(n, o.seen)
		o.seen = n
	}
}

// moved notes the rows that a bulk erase has filled.
func (o *ordering) moved(moves []slotset.Move) {
	for _, move := range moves {
		o.change(int(move.To))
	}
}

// forget drops all progress. The memory stays.
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

// isBlank reports whether nothing is known.
func (o *ordering) isBlank() bool { return o == nil || o.seen == 0 && o.stage == resting }

// isDone reports whether all n rows are in order.
func (o *ordering) isDone(n int) bool {
	return o.stage == resting && o.seen == n && o.changed.count == 0
}

// merged returns the number of items in spare that the current merge has written.
func (o *ordering) merged() int {
	switch {
	case o.stage != merging:
		return 0
	case o.pair >= len(o.ends):
		return len(o.list)
	}
	return o.left + max(0, o.right-int(o.ends[o.pair]))
}

// shrink releases memory that holds no progress.
func (o *ordering) shrink() *ordering {
	if o.isBlank() {
		return nil
	}
	if o.stage == resting {
		o.round = round{}
	}
	return o
}
