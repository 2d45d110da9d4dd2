package dense

import (
	"fmt"
	"math/bits"

	"handloom/internal/digest"
	"handloom/internal/slotset"
)

// verifyOrdering checks O1 to O3. O4 cannot be checked without the comparison.
func (d *Set) verifyOrdering() error {
	o := d.ordering()
	if o == nil {
		return nil
	}
	if o.seen > len(d.meta) {
		return fmt.Errorf("O1: %d rows are known of %d", o.seen, len(d.meta))
	}
	if err := o.verifySets(); err != nil {
		return err
	}
	f := defragmenter{m: d, known: o}
	switch o.stage {
	case resting:
		if o.sorting.count > 0 {
			return fmt.Errorf("O2: %d rows are being sorted in no round", o.sorting.count)
		}
		return nil
	case moving:
		if o.sorting.count > 0 {
			return fmt.Errorf("O2: %d rows are being sorted when all are placed", o.sorting.count)
		}
		return f.verifyList(o.list[o.at:], func(row int) bool {
			return row >= o.lo && row < min(o.hi, o.seen) && !o.changed.has(row)
		})
	case merging:
		return f.verifyList(append(o.unmerged(), o.spare[:o.merged()]...), o.sorting.has)
	default:
		return f.verifyList(o.list, o.sorting.has)
	}
}

// verifySets checks O1.
func (o *ordering) verifySets() error {
	for i, s := range []*rowSet{&o.changed, &o.sorting} {
		name := [2]string{"changed", "being sorted"}[i]
		count, last := 0, -1
		for w, word := range s.words {
			if count += bits.OnesCount64(word); word != 0 {
				last = w*64 + bits.Len64(word) - 1
			}
		}
		if count != s.count {
			return fmt.Errorf("O1: %d rows are %s, but the count says %d", count, name, s.count)
		}
		if last >= o.seen {
			return fmt.Errorf("O1: row %d is %s, beyond the %d known", last, name, o.seen)
		}
	}
	for row := range o.sorting.all() {
		if o.changed.has(row) {
			return fmt.Errorf("O1: row %d is changed and being sorted", row)
		}
	}
	return nil
}

// unmerged returns the items of the current pair and of later runs that no merge has
// written.
func (o *ordering) unmerged() []slotset.Slot {
	if o.pair >= len(o.ends) {
		return nil
	}
	mid := int(o.ends[o.pair])
	todo := append([]slotset.Slot(nil), o.list[o.left:mid]...)
	return append(todo, o.list[max(o.right, mid):]...)
}

// The rows of items that are still in the round are the rows for which listed is true,
// each once.
func (d *defragmenter) verifyList(list []slotset.Slot, listed func(row int) bool) error {
	seen := make([]bool, d.known.seen)
	for _, slot := range list {
		row, valid := d.rowOf(slot)
		if !valid {
			continue
		}
		if !listed(int(row)) || seen[row] {
			return fmt.Errorf("O3: slot %d at row %d is in the round, before: %t", slot, row, seen[row])
		}
		seen[row] = true
	}
	for row := range seen {
		if listed(row) && !seen[row] {
			return fmt.Errorf("O3: row %d is in no round", row)
		}
	}
	return nil
}

// digest writes the state to h.
func (o *ordering) digest(h *digest.Hash) {
	if o.isBlank() {
		h.Uint8(0)
		return
	}
	h.Uint8(1 + uint8(o.stage))
	h.Uint64(uint64(o.seen))
	o.changed.digest(h)
	o.sorting.digest(h)
	for _, slots := range [][]slotset.Slot{o.list, o.spare[:o.merged()]} {
		h.Uint64(uint64(len(slots)))
		digest.For[slotset.Slot]().Lasting(h, slots)
	}
	h.Uint64(uint64(len(o.ends)))
	digest.For[uint32]().Lasting(h, o.ends)
	h.Uint64(uint64(len(o.places)))
	digest.For[slotset.Row]().Lasting(h, o.places)
	c := &o.cursor
	for _, v := range []int{c.at, c.pair, c.made, c.left, c.right, c.lo, c.hi, c.top, c.step} {
		h.Uint64(uint64(v))
	}
}

// rowsPerPiece is the number of rows hashed at a time, which is much faster than one by
// one.
const rowsPerPiece = 512

// digest writes the rows of the set, ascending.
func (s *rowSet) digest(h *digest.Hash) {
	h.Uint64(uint64(s.count))
	piece, plan := make([]slotset.Row, 0, min(s.count, rowsPerPiece)), digest.For[slotset.Row]()
	for row := range s.all() {
		if len(piece) == cap(piece) {
			plan.Items(h, piece)
			piece = piece[:0]
		}
		piece = append(piece, slotset.Row(row))
	}
	plan.Items(h, piece)
}
