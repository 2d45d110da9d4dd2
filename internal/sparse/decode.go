package sparse

import (
	"fmt"

	"handloom/handle"
	"handloom/internal/dense"
	"handloom/internal/digest"
)

// Skip skips the output of [Map.DigestTo] for a map of at most limit items.
func Skip(in *digest.Decoder, values *digest.Schema, limit int) {
	n := in.Count(limit, "rows of sparse data")
	for range n {
		if in.Uint64(); in.Err() != nil {
			return
		}
	}
	values.Skip(in, n)
}

// Load restores the output of [Map.DigestTo] into d, which must be empty. limit and slots
// are the numbers of items and slots of host, which is loaded. It verifies all invariants
// and reports violations to in; d is then unusable.
func (d *Map) Load(in *digest.Decoder, host Host, limit, slots int) {
	n := in.Count(limit, "rows of sparse data")
	if n > 0 {
		d.index = make([]uint32, slots)
	}
	for row := range n {
		id := handle.ID(in.Uint64())
		if in.Err() != nil {
			return
		}
		if _, ok := host.RowOf(id); !ok {
			in.Fail(fmt.Errorf("N1: row %d belongs to %v, which is not an item", row, id))
			return
		}
		// Two rows of one owner would break N2.
		if _, twice := d.Row(id); twice {
			in.Fail(fmt.Errorf("N2: row %d duplicates the owner %v", row, id))
			return
		}
		d.index[id.Slot()] = uint32(row)
		d.owners = append(d.owners, id)
	}
	d.items = dense.LoadItems(in, d.Type, n)
}
