package sparse

import (
	"fmt"

	"handloom/internal/dense"
	"handloom/internal/digest"
	"handloom/shard/handle"
)

// Skip passes over what [Map.DigestTo] gave to in, of a map of so many items.
func Skip(in *digest.Decoder, values *digest.Schema, most int) {
	n := in.Count(most, "rows of optional data")
	for range n {
		if in.Uint64(); in.Err() != nil {
			return
		}
	}
	values.Skip(in, n)
}

// Load makes the data, which no item has, what [Map.DigestTo] gave to in, of a map that
// has been read, of so many items and slots. All invariants are verified, and what is
// wrong becomes the error of in; the data is of no use then.
func (d *Map) Load(in *digest.Decoder, host Host, most, slots int) {
	n := in.Count(most, "rows of optional data")
	if n > 0 {
		d.index = make([]uint32, slots)
	}
	for row := range n {
		id := handle.ID(in.Uint64())
		if in.Err() != nil {
			return
		}
		if !host.Has(id) {
			in.Fail(fmt.Errorf("N1: row %d is of %v, which is no item", row, id))
			return
		}
		if _, twice := d.Row(id); twice {
			in.Fail(fmt.Errorf("N2: row %d is another one of %v", row, id))
			return
		}
		d.index[id.Slot()] = uint32(row)
		d.owners = append(d.owners, id)
	}
	d.items = dense.LoadItems(in, d.Type, n)
}
