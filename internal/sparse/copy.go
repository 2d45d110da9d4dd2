package sparse

import (
	"fmt"
	"unsafe"

	"handloom/internal/dense"
	"handloom/internal/digest"
	"handloom/shard/handle"
)

// EmptyLike returns data of the same type, that no item has.
func (d *Map) EmptyLike() *Map { return New(d.Type) }

// CopyTo makes dst a copy of d. clone, if given, makes *dst a copy of *src; when it
// panics, dst is empty.
func (d *Map) CopyTo(dst *Map, clone func(dst, src unsafe.Pointer)) {
	if dst == d {
		return
	}
	n, had := len(d.owners), len(dst.owners)
	dst.reserveRows(n)
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
		dst.index = make([]uint32, len(d.index))
	}
	dst.number()
}

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

// number makes the index of the owners (N2).
func (d *Map) number() {
	for row, id := range d.owners {
		d.index[id.Slot()] = uint32(row)
	}
}

// MoveFrom takes the state out of from, which is of no use afterwards.
func (d *Map) MoveFrom(from *Map) { d.index, d.owners, d.items = from.index, from.owners, from.items }

// DigestTo gives h what is the state: owners and items by row.
func (d *Map) DigestTo(h *digest.Hash) {
	h.Uint64(uint64(len(d.owners)))
	digest.For[handle.ID]().Lasting(h, d.owners)
	d.Type.DigestItems(h, d.items)
}

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
