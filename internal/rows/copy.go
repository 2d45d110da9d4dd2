package rows

import (
	"unsafe"

	"handloom/internal/sparse"
)

// Clone returns a copy; see handlemap.Map.Clone.
func (d *Dense) Clone() *Dense {
	d.guard("Clone")
	c := d.EmptyLike()
	d.CopyTo(c, nil)
	return c
}

// CopyTo makes dst, of the same type, a copy of d; see handlemap.Map.CopyTo. clone,
// if given, makes *dst a copy of *src.
func (d *Dense) CopyTo(dst *Dense, clone func(dst, src unsafe.Pointer)) {
	d.guard("CopyTo")
	dst.guard("CopyTo")
	if dst == d {
		return
	}
	dst.maxItems = d.maxItems
	dst.makeCopyRoom(len(d.meta), len(d.set.Words))
	if clone == nil {
		n := len(d.meta)
		d.typ.Copy(dst.items.Resize(max(n, dst.items.Len())), d.items)
		dst.setRows(n)
	} else {
		d.cloneItems(dst, clone)
	}
	dst.meta = dst.meta[:len(d.meta)]
	copy(dst.meta, d.meta)
	d.set.CopyTo(&dst.set)
	dst.known = d.known.copyTo(dst.known)
}

// makeCopyRoom makes room for a copy of so many rows and slot words: no more than
// that in a map without any, for a copy is rarely added to, but with some to
// spare where one copy follows another and their map grows.
func (d *Dense) makeCopyRoom(rows, words int) {
	roomy := func(need, have int) int {
		if have == 0 {
			return need
		}
		return d.roomy(need, have)
	}
	if rows > d.items.Cap() {
		d.growRows(roomy(rows, d.items.Cap()))
	}
	if words > cap(d.set.Words) {
		d.growWords(roomy(words, cap(d.set.Words)))
	}
}

// setRows makes the first n rows, which have been written, the dense set. Inserts
// take its capacity as leave by MaxItems.
func (d *Dense) setRows(n int) {
	if n < d.items.Len() {
		d.typ.Clear(d.items.Sub(n, d.items.Len(), d.typ.Size)) // S4
	}
	room := d.items.Cap()
	if d.maxItems > 0 {
		room = min(room, d.maxItems)
	}
	d.items = d.items.Resize(n).Clip(max(n, room))
}

// cloneItems is the copying of items where clone does it.
func (d *Dense) cloneItems(dst *Dense, clone func(dst, src unsafe.Pointer)) {
	n, done := len(d.meta), false
	dst.items = dst.items.Resize(max(n, dst.items.Len()))
	d.busy++
	dst.busy++
	defer func() {
		d.busy--
		dst.busy--
		if !done {
			dst.empty()
		}
	}()
	for row := range n {
		clone(dst.items.Pointer(row, d.typ.Size), d.items.Pointer(row, d.typ.Size))
	}
	dst.setRows(n)
	done = true
}

// empty makes the map one that was never used and keeps its memory.
func (d *Dense) empty() {
	d.setRows(0)
	d.meta = d.meta[:0]
	d.set.Forget()
	d.forgetOrder()
}

// copyTo makes dst, which may be nil, know what o knows, and returns it.
func (o *ordering) copyTo(dst *ordering) *ordering {
	if o.isBlank() {
		if dst != nil {
			dst.forget()
		}
		return dst
	}
	if dst == nil {
		dst = new(ordering)
	}
	dst.seen = o.seen
	o.changed.copyTo(&dst.changed)
	o.sorting.copyTo(&dst.sorting)
	o.round.copyTo(&dst.round)
	return dst
}

func (s *rowSet) copyTo(dst *rowSet) {
	dst.words = append(dst.words[:0], s.words...)
	dst.count = s.count
}

func (r *round) copyTo(dst *round) {
	dst.stage, dst.cursor = r.stage, r.cursor
	dst.list = append(dst.list[:0], r.list...)
	dst.spare = append(dst.spare[:0], r.spare...)
	dst.ends = append(dst.ends[:0], r.ends...)
	dst.places = append(dst.places[:0], r.places...)
	dst.skips = append(dst.skips[:0], r.skips...)
}

// EmptyLike returns a map of the same item type and options that was never used.
func (d *Dense) EmptyLike() *Dense {
	return &Dense{typ: d.typ, maxItems: d.maxItems, set: sparse.Set{Freelist: d.set.Unused()}}
}

// Become takes the state out of from, of the same type, which is of no use
// afterwards.
func (d *Dense) Become(from *Dense) {
	d.guard("Become")
	d.set, d.meta, d.known, d.items = from.set, from.meta, from.known, from.items
}
