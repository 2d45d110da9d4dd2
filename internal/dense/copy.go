package dense

import (
	"slices"
	"unsafe"

	"handloom/internal/slotset"
)

// Clone returns a copy; see handlemap.Map.Clone.
func (d *Set) Clone() *Set {
	d.guard("Clone")
	c := d.EmptyLike()
	d.CopyTo(c, Clones{})
	return c
}

// Clones are the functions that copy, each making *dst a copy of *src; where one is nil,
// by assignment.
type Clones struct {
	Items   func(dst, src unsafe.Pointer)
	Columns []func(dst, src unsafe.Pointer) // of [Set.Columns]; may be fewer
}

func (c Clones) column(i int) func(dst, src unsafe.Pointer) {
	if i < len(c.Columns) {
		return c.Columns[i]
	}
	return nil
}

// CopyTo makes dst, of the same type, a copy of d; see handlemap.Map.CopyTo. Its columns
// stay what they are: those that d has no column of the kind for are zero then.
func (d *Set) CopyTo(dst *Set, clones Clones) {
	d.guard("CopyTo")
	dst.guard("CopyTo")
	if dst == d {
		return
	}
	if dst.IsPinned() {
		d.set.MustMatch(&dst.set.Freelist, "handlemap")
	} else {
		dst.maxItems = d.maxItems
	}
	dst.makeCopyRoom(len(d.meta), len(d.set.Words))
	if clones.Items == nil {
		n := len(d.meta)
		d.typ.Copy(dst.items.Resize(max(n, dst.items.Len())), d.items)
		dst.setRows(n)
	} else {
		d.cloning(dst, func() { d.cloneItems(dst, clones.Items) })
	}
	if len(dst.Columns()) > 0 {
		d.cloning(dst, func() { d.copyColumns(dst, clones) })
	}
	dst.meta = dst.meta[:len(d.meta)]
	dst.clipMeta()
	copy(dst.meta, d.meta)
	d.set.CopyTo(&dst.set)
	if known := d.ordering().copyTo(dst.ordering()); known != nil {
		dst.following().known = known
	}
}

// copyColumns is the copying of columns, where the meta set of dst still has as many
// rows as it had.
func (d *Set) copyColumns(dst *Set, clones Clones) {
	n, had := len(d.meta), len(dst.meta)
	for _, to := range dst.Columns() {
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

// makeCopyRoom makes room for a copy of so many rows and slot words: no more than
// that in a map without any, for a copy is rarely added to, but with some to
// spare where one copy follows another and their map grows.
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

// setRows makes the first n rows, which have been written, the dense set. Inserts
// take its capacity as leave by MaxItems.
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

// cloneItems is the copying of items where clone does it.
func (d *Set) cloneItems(dst *Set, clone func(dst, src unsafe.Pointer)) {
	n := len(d.meta)
	dst.items = dst.items.Resize(max(n, dst.items.Len()))
	for row := range n {
		clone(dst.items.Pointer(row, d.typ.Size), d.items.Pointer(row, d.typ.Size))
	}
	dst.setRows(n)
}

// cloning runs what calls functions of the caller's; dst is empty if they panic.
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

// empty makes the map one that was never used and keeps its memory.
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

// EmptyLike returns a map of the same item type, options and columns that was never used.
func (d *Set) EmptyLike() *Set {
	e := &Set{typ: d.typ, maxItems: d.maxItems, set: slotset.Set{Freelist: d.set.Unused()}}
	for _, c := range d.Columns() {
		e.AddColumn(c.Kind)
	}
	return e
}

// Become takes the state out of from, of the same type and columns, which is of no use
// afterwards.
func (d *Set) Become(from *Set) {
	d.guard("Become")
	d.set, d.meta, d.items = from.set, from.meta, from.items
	if d.followers != nil || from.followers != nil {
		d.following().known = from.ordering()
	}
	for i, c := range d.Columns() {
		*c = Column{Kind: c.Kind, of: d, all: from.Columns()[i].all}
	}
}
