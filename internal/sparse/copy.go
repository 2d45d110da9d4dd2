package sparse

import (
	"unsafe"

	"handloom/internal/slotset"
)

// EmptyLike returns empty data of the same type.
func (d *Map) EmptyLike() *Map { return New(d.Type) }

// CopyTo makes dst a copy of d, or empty if clone panics.
func (d *Map) CopyTo(dst *Map, clone func(dst, src unsafe.Pointer)) {
	if dst == d {
		return
	}
	n, had := len(d.owners), len(dst.owners)
	dst.changes += slotset.Reordered
	dst.reserveRows(n)
	// Old rows of dst stay until they are cloned over or cleared below.
	dst.items = dst.items.Resize(max(n, had))
	if clone == nil {
		d.Type.Copy(dst.items, d.items)
	} else {
		d.cloneTo(dst, clone)
	}
	d.Type.Clear(dst.items.Sub(n, max(n, had), d.Type.Size))
	dst.items = dst.items.Resize(n)
	dst.owners = append(dst.owners[:0], d.owners...)
	if len(dst.index) < len(d.index) {
		// Old entries need no copy: number writes the entries of all owners.
		dst.index = make([]uint32, len(d.index))
	}
	dst.number()
}

// cloneTo calls clone for each row, with the old value of dst or zero.
func (d *Map) cloneTo(dst *Map, clone func(dst, src unsafe.Pointer)) {
	done := false
	defer func() {
		if !done {
			d.Type.Clear(dst.items)
			dst.owners, dst.items = dst.owners[:0], dst.items.Resize(0)
		}
	}()
	for row := range d.owners {
		clone(dst.At(row), d.At(row))
	}
	done = true
}

// number makes the index follow the owners (N2).
func (d *Map) number() {
	for row, id := range d.owners {
		d.index[id.Slot()] = uint32(row)
	}
}

// MoveFrom leaves from unusable.
func (d *Map) MoveFrom(from *Map) {
	d.index, d.owners, d.items = from.index, from.owners, from.items
	d.changes += slotset.Reordered
}
