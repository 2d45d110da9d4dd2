package sparse

import (
	"iter"

	"handloom/handle"
	"handloom/internal/slotset"
)

// All iterates by row as dense.All does, and has the same rules.
func All[C any](d *Map) iter.Seq2[handle.ID, *C] {
	return func(yield func(handle.ID, *C) bool) {
		end, changes := len(d.owners), d.changes
		last := d.lastOf(end)
		for row := 0; row < end; {
			id := d.owners[row]
			if v, ok := Find[C](d, id); ok && !yield(id, v) {
				return
			}
			if d.changes == changes {
				row++
				continue
			}
			live := d.removed != id && d.Has(id) // it may have the data again
			row, end = slotset.Resume(row, end, d.changes-changes, live, d.lastOf(row+1), last)
			changes, last = d.changes, d.lastOf(end)
		}
	}
}

// lastOf returns the owner of the last of the first n rows, or null without that row.
func (d *Map) lastOf(n int) handle.ID {
	if n == 0 || n > len(d.owners) {
		return 0
	}
	return d.owners[n-1]
}

// Changes is the counter of changes of rows; see [slotset.Removed].
func (d *Map) Changes() uint64 { return d.changes }
