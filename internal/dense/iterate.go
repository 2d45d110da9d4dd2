package dense

import (
	"iter"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Items returns the dense set: every item by row. Its capacity equals its length.
func Items[T any](d *Set) []T {
	all := *items.As[T](&d.items)
	return all[:len(all):len(all)]
}

// Range returns the items of the rows lo to hi-1, which share memory with the map.
func Range[T any](d *Set, lo, hi int) []T { return Items[T](d)[lo:hi:hi] }

func (d *Set) Range(lo, hi int) items.Slice { return d.items.Sub(lo, hi, d.typ.Size) }

// All iterates by row over the items that are there when it begins. The current item may be
// removed and others inserted meanwhile; after other changes of rows it panics.
//
// The inner loop has no variables of the outer one that it does not need, so that row stays
// in a register, and max spares a second check of its bounds (op=iterate/impl=handlemap.All).
func All[T any](d *Set) iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		for row, end := 0, len(d.meta); row < end; {
			// Read again after each change: an insert may move the arrays.
			all, meta, words := (*items.As[T](&d.items))[:end], d.meta[:end], d.set.Words
			changes, last := d.changes, d.lastOf(end)
			h := handle.ID(0)
			for row = max(row, 0); row < len(all); row++ {
				slot := meta[row]
				h = words[slot]&slotset.UpperHalf | handle.ID(slot)
				if !yield(handle.Of[T]{ID: h}, &all[row]) {
					return
				}
				if d.changes != changes {
					break
				}
			}
			// Resume decides whether the current item was removed, and whether this row
			// must be repeated.
			if row < end {
				row, end = slotset.Resume(row, end, d.changes-changes, d.Has(h), d.lastOf(row+1), last)
				end = min(end, len(d.meta))
			}
		}
	}
}

// lastOf returns the ID of the last of the first n rows, or null without that row.
func (d *Set) lastOf(n int) handle.ID {
	if n == 0 || n > len(d.meta) {
		return 0
	}
	return d.IDAt(n - 1)
}

// Changes is the counter of changes of rows; see [slotset.Removed].
func (d *Set) Changes() uint64 { return d.changes }
