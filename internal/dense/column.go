package dense

import (
	"fmt"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Kind says what a column is. The shards of a table share it, and so do all copies of
// their maps: elements are copied between columns of one kind.
type Kind struct {
	Name string
	Type *items.Type
}

// Column is an array beside the items of a map: element i belongs to row i, whatever
// moves. It has no length of its own: there are as many elements as the dense set has
// room for (C1), and those from the length of the map on are zero, whatever their
// type is (C2). So what is inserted finds zero elements, and inserting need not know
// of columns.
type Column struct {
	Kind *Kind

	of            *Set
	all           items.Slice
	gathered, one items.Slice // scratch of reorders
}

// followers are what follows the rows of a map, in those that have something: others
// pay for a nil pointer.
type followers struct {
	known   *ordering // what Defragment knows; nil: nothing
	columns []*Column
}

// AddColumn adds a column whose elements are zero, and returns it.
func (d *Set) AddColumn(k *Kind) *Column {
	d.guard("AddColumn")
	c := &Column{Kind: k, of: d, all: k.Type.Make(d.items.Cap())}
	f := d.following()
	f.columns = append(f.columns, c)
	return c
}

// Columns returns the columns of the map, in the order in which they were added.
func (d *Set) Columns() []*Column {
	if d.followers == nil {
		return nil
	}
	return d.followers.columns
}

// following returns what follows the rows, to add to it.
func (d *Set) following() *followers {
	if d.followers == nil {
		d.followers = new(followers)
	}
	return d.followers
}

// ordering returns what Defragment knows, or nil.
func (d *Set) ordering() *ordering {
	if d.followers == nil {
		return nil
	}
	return d.followers.known
}

// erase follows the erase of one item: the last row takes the place of row.
func (f *followers) erase(row, last int) {
	if f.known != nil {
		f.known.shorten(last)
		f.known.change(row)
	}
	for _, c := range f.columns {
		c.erase(row, last)
	}
}

// erased follows a bulk erase that leaves kept of n rows.
func (f *followers) erased(moves []slotset.Move, kept, n int) {
	if f.known != nil {
		f.known.erased(moves, kept)
	}
	for _, c := range f.columns {
		c.Kind.Type.Move(c.all, moves)
		c.clear(kept, n)
	}
}

// reset follows a reset of the map, which keeps no memory.
func (f *followers) reset() {
	f.known = nil
	for _, c := range f.columns {
		*c = Column{Kind: c.Kind, of: c.of}
	}
}

// shrink follows the shrinking of a map of n rows to what they need.
func (f *followers) shrink(n int) {
	f.known = f.known.shrink()
	for _, c := range f.columns {
		*c = Column{Kind: c.Kind, of: c.of, all: c.Kind.Type.Grown(c.all.Resize(n), n)}
	}
}

// Elements returns the elements of the rows lo to hi-1, with no room for more. C is the
// type of the column.
func Elements[C any](c *Column, lo, hi int) []C { return (*items.As[C](&c.all))[lo:hi:hi] }

// Range returns the elements of the rows lo to hi-1, as [Elements] does.
func (c *Column) Range(lo, hi int) items.Slice { return c.all.Sub(lo, hi, c.Kind.Type.Size) }

// At returns the address of the element of a row.
func (c *Column) At(row int) unsafe.Pointer { return c.all.Pointer(row, c.Kind.Type.Size) }

// Fill copies values over the elements from row on.
func (c *Column) Fill(row int, values items.Slice) {
	t := c.Kind.Type
	t.Copy(c.all.Sub(row, row+values.Len(), t.Size), values)
}

// NewStaleError is what At methods panic with when id names no item; see [Set.NewStaleError].
func (c *Column) NewStaleError(id handle.ID) *handle.StaleError { return c.of.NewStaleError(id) }

// Exchange lets two columns of one map, which has so many rows, and of one type have
// each other's elements. What was given out of them is over; a checked build moves both.
func (c *Column) Exchange(other *Column, rows int) {
	c.all, other.all = other.all, c.all
	if check.Full {
		c.grow(rows, c.all.Cap())
		other.grow(rows, other.all.Cap())
	}
}

// erase is written for elements without pointers, which need no typed steps.
func (c *Column) erase(row, last int) {
	t := c.Kind.Type
	to, from := c.all.Pointer(row, t.Size), c.all.Pointer(last, t.Size)
	if t.Pointers {
		t.Set(to, from)
		t.Zero(from)
		return
	}
	vacated := unsafe.Slice((*byte)(from), t.Size)
	copy(unsafe.Slice((*byte)(to), t.Size), vacated)
	clear(vacated)
}

// clear zeroes the elements of the rows lo to hi-1.
func (c *Column) clear(lo, hi int) {
	if lo < hi {
		c.Kind.Type.Clear(c.all.Sub(lo, hi, c.Kind.Type.Size))
	}
}

// grow moves the column to an array of n elements, of which the first rows are kept.
func (c *Column) grow(rows, n int) {
	old := c.all
	c.all = c.Kind.Type.Grown(old.Resize(rows), n)
	poison(c.Kind.Type, old)
}

// clip makes the column one of n elements, which is no more than it has.
func (c *Column) clip(n int) { c.all = c.all.Resize(n).Clip(n) }

// arrange moves elements as [Set.arrange] does items. It leaves order as it is, and
// uses up spare.
func (c *Column) arrange(first int, order, spare []slotset.Row) {
	if c.Kind.Type.Size > lineBytes {
		order = spare[:copy(spare, order)]
	}
	arrange(c.Kind.Type, c.all, &c.gathered, &c.one, first, order)
}

// copyTo copies the first n elements to the column of another map. clone, if given,
// makes *dst a copy of *src.
func (c *Column) copyTo(dst *Column, n int, clone func(dst, src unsafe.Pointer)) {
	t := c.Kind.Type
	if clone == nil {
		t.Copy(dst.all, c.all.Sub(0, n, t.Size))
		return
	}
	for row := range n {
		clone(dst.At(row), c.At(row))
	}
}

// digest adds the elements of n rows to h.
func (c *Column) digest(h *digest.Hash, n int) {
	c.Kind.Type.DigestItems(h, c.all.Sub(0, n, c.Kind.Type.Size))
}

// verify checks C1 and C2 for a map of so many rows and room for so many.
func (c *Column) verify(rows, room int) error {
	if c.all.Len() != room || c.all.Cap() != room {
		return fmt.Errorf("C1: column %q has %d elements of %d, where there is room for %d items", c.Kind.Name, c.all.Len(), c.all.Cap(), room)
	}
	for row := rows; row < room; row++ {
		if !c.Kind.Type.IsZero(c.At(row)) {
			return fmt.Errorf("C2: the element of column %q at row %d, beyond the length %d, is not zero", c.Kind.Name, row, rows)
		}
	}
	return nil
}

// poison fills an array that growth abandoned.
func poison(t *items.Type, all items.Slice) {
	if check.Full && all.Cap() > 0 && !t.Pointers {
		check.Poison(all.Data(), uintptr(all.Cap())*t.Size)
	}
}
