package dense

import (
	"slices"
	"unsafe"

	"handloom/internal/slotset"
)

// Clone returns a copy with the same columns, copied by assignment. It takes O(slots +
// Len()) time.
func (d *Set) Clone() *Set {
	d.guard("Clone")
	c := d.EmptyLike()
	d.CopyTo(c, CloneFuncs{})
	return c
}

// CloneFuncs are functions that make *dst a copy of *src; nil copies by assignment.
type CloneFuncs struct {
	Items   func(dst, src unsafe.Pointer)
	Columns []func(dst, src unsafe.Pointer)
}

// column returns the function of a column, or nil.
func (c CloneFuncs) column(i int) func(dst, src unsafe.Pointer) {
	if i < len(c.Columns) {
		return c.Columns[i]
	}
	return nil
}

// CopyTo makes dst, of the same type, a copy of d; see handlemap.Map.CopyTo. Columns of dst
// whose kind d lacks become zero.
func (d *Set) CopyTo(dst *Set, clones CloneFuncs) {
	d.guard("CopyTo")
	dst.guard("CopyTo")
	if dst == d {
		return
	}
	dst.changes += slotset.Reordered
	dst.maxItems = d.maxItems
	// All memory first, so that only user functions can fail below.
	dst.makeCopyRoom(len(d.meta), len(d.set.Words))
	if clones.Items == nil {
		// Rows of dst past n keep their items until setRows releases them.
		n := len(d.meta)
		d.typ.Copy(dst.items.Resize(max(n, dst.items.Len())), d.items)
		dst.setRows(n)
	} else {
		// User code: it may panic, and it must not change either map.
		d.cloning(dst, func() { d.cloneItems(dst, clones.Items) })
	}
	if len(dst.Columns()) > 0 {
		d.cloning(dst, func() { d.copyColumns(dst, clones) })
	}
	// Meta set and slots follow last, so that a panic above leaves no mixture.
	dst.meta = dst.meta[:len(d.meta)]
	dst.clipMeta()
	copy(dst.meta, d.meta)
	d.set.CopyTo(&dst.set)
	if known := d.ordering().copyTo(dst.ordering()); known != nil {
		dst.following().known = known
	}
}

// copyColumns runs while the meta set of dst has its old length.
func (d *Set) copyColumns(dst *Set, clones CloneFuncs) {
	n, had := len(d.meta), len(dst.meta)
	for _, to := range dst.Columns() {
		// Elements past the new length must be zero (C2).
		to.clear(n, had)
		to.clip(dst.items.Cap())
		i := slices.IndexFunc(d.Columns(), func(c *Column) bool { return c.Kind == to.Kind })
		if i < 0 {
			to.clear(0, n)
			continue
		}
		d.Columns()[i].copyTo(to, n, clones.column(i))
	}
}

// makeCopyRoom gives the first copy the exact size, because copies rarely grow, and
// repeated copies spare room.
func (d *Set) makeCopyRoom(rows, words int) {
	roomy := func(need, have int) int {
		if have == 0 {
			return need
		}
		return d.roomy(need, have)
	}
	if rows > d.items.Cap() {
		d.growRows(roomy(rows, d.items.Cap()))
	}
	d.growMeta(rows)
	if words > cap(d.set.Words) {
		d.growWords(roomy(words, cap(d.set.Words)))
	}
}

// setRows sets the number of rows of a copy, releases the rows past it (S4), and limits
// capacity to MaxItems.
func (d *Set) setRows(n int) {
	if n < d.items.Len() {
		d.release(n, d.items.Len())
	}
	room := d.items.Cap()
	if d.maxItems > 0 {
		room = min(room, d.maxItems)
	}
	d.items = d.items.Resize(n).Clip(max(n, room))
}

// cloneItems calls clone for each row, with the old item of dst or zero.
func (d *Set) cloneItems(dst *Set, clone func(dst, src unsafe.Pointer)) {
	n := len(d.meta)
	dst.items = dst.items.Resize(max(n, dst.items.Len()))
	for row := range n {
		clone(dst.items.Pointer(row, d.typ.Size), d.items.Pointer(row, d.typ.Size))
	}
	dst.setRows(n)
}

// cloning runs f, which calls user functions. If f panics, dst becomes empty.
func (d *Set) cloning(dst *Set, f func()) {
	done := false
	d.busy++
	dst.busy++
	defer func() {
		d.busy--
		dst.busy--
		if !done {
			dst.empty()
		}
	}()
	f()
	done = true
}

// empty makes the map empty and keeps its arrays. Its columns may have any content before.
func (d *Set) empty() {
	d.setRows(0)
	for _, c := range d.Columns() {
		c.clip(d.items.Cap())
		c.clear(0, d.items.Cap())
	}
	d.meta = d.meta[:0]
	d.clipMeta()
	d.set.Reset()
	d.forgetOrder()
}

// copyTo copies the progress of Defragment to dst, which may be nil, and returns the copy.
// The copy continues as the original would.
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

// EmptyLike returns an unused map of the same type, options and columns.
func (d *Set) EmptyLike() *Set {
	e := &Set{typ: d.typ, maxItems: d.maxItems, set: slotset.Set{Freelist: d.set.Unused()}}
	for _, c := range d.Columns() {
		e.AddColumn(c.Kind)
	}
	return e
}

// MoveFrom leaves from unusable. Both have the same type and columns.
func (d *Set) MoveFrom(from *Set) {
	d.guard("MoveFrom")
	d.changes += slotset.Reordered
	d.set, d.meta, d.items = from.set, from.meta, from.items
	if d.followers != nil || from.followers != nil {
		d.following().known = from.ordering()
	}
	for i, c := range d.Columns() {
		*c = Column{Kind: c.Kind, owner: d, all: from.Columns()[i].all}
	}
}
