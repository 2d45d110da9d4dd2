package sparse

import (
	"math/bits"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

type sorting struct {
	rows   slotset.Bits // by row of the map
	order  []slotset.Row
	owners []handle.ID
	items  items.Slice
}

// SortAs sorts the rows by the rows of their items in host. It takes O(rows + rows of
// host/4096) time.
func (d *Map) SortAs(host Host) {
	s := &d.sorting
	s.rows.Clear()
	s.rows.Grow(host.Rows())
	for _, id := range d.owners {
		row, _ := host.RowOf(id)
		s.rows.Add(row)
	}
	s.order, s.owners = s.order[:0], s.owners[:0]
	// A bitmap of the host's rows sorts without comparisons.
	for base, word := range s.rows.Words {
		for ; word != 0; word &= word - 1 {
			id := host.IDAt(base + bits.TrailingZeros64(word))
			row, _ := d.Row(id)
			s.order, s.owners = append(s.order, slotset.Row(row)), append(s.owners, id)
		}
	}
	s.items = d.Type.Gather(s.items, d.items, s.order)
	d.Type.Copy(d.items, s.items)
	if d.Type.Pointers {
		d.Type.Clear(s.items)
	}
	copy(d.owners, s.owners)
	d.changes += slotset.Reordered
	d.number()
}
