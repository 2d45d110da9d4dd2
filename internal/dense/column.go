package dense

import (
	"fmt"
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Kind identifies a column. All shards of a table and all copies of their maps share it.
type Kind struct {
	Name string
	Type *items.Type
}

// Column is an array of elements by row. It has as many elements as the dense set has
// capacity (C1). Elements from the length of the map on are zero (C2), so an insert need
// not write them.
type Column struct {
	Kind *Kind

	owner         *Set
	all           items.Slice
	gathered, one items.Slice
}

// followers are the parts of a map that follow its rows: nil in a map without columns that
// was never defragmented, whose erases pay one compare.
type followers struct {
	known   *ordering
	columns []*Column
}

// AddColumn adds a column of zero elements, in O(Cap()) time.
func (d *Set) AddColumn(k *Kind) *Column {
	d.guard("AddColumn")
	c := &Column{Kind: k, owner: d, all: k.Type.Make(d.items.Cap())}
	f := d.following()
	f.columns = append(f.columns, c)
	return c
}

// Columns returns the columns in the order of AddColumn.
func (d *Set) Columns() []*Column {
	if d.followers == nil {
		return nil
	}
	return d.followers.columns
}

// following returns the followers, and makes them if there are none.
func (d *Set) following() *followers {
	if d.followers == nil {
		d.followers = new(followers)
	}
	return d.followers
}

// ordering returns the order that Defragment knows, or nil.
func (d *Set) ordering() *ordering {
	if d.followers == nil {
		return nil
	}
	return d.followers.known
}

// erase follows an erase of one row, which the last row fills.
func (f *followers) erase(row, last int) {
	if f.known != nil {
		// In this order: a change of a row past the end has no effect.
		f.known.shorten(last)
		f.known.change(row)
	}
	for _, c := range f.columns {
		c.erase(row, last)
	}
}

// beginErase comes before the moves of a bulk erase, and endErase after them. kept of n rows
// remain.
func (f *followers) beginErase(kept int) {
	if f.known != nil {
		f.known.shorten(kept)
	}
}

// move follows the moves of a bulk erase.
func (f *followers) move(moves []slotset.Move) {
	if f.known != nil {
		f.known.moved(moves)
	}
	for _, c := range f.columns {
		c.Kind.Type.Move(c.all, moves)
	}
}

// endErase zeroes the elements of the rows that are gone (C2).
func (f *followers) endErase(kept, n int) {
	for _, c := range f.columns {
		c.clear(kept, n)
	}
}

// reset releases all memory. The columns stay, without elements.
func (f *followers) reset() {
	f.known = nil
	for _, c := range f.columns {
		*c = Column{Kind: c.Kind, owner: c.owner}
	}
}

// shrink gives the columns a capacity of n, the length of the map (C1).
func (f *followers) shrink(n int) {
	f.known = f.known.shrink()
	for _, c := range f.columns {
		*c = Column{Kind: c.Kind, owner: c.owner, all: c.Kind.Type.Grown(c.all.Resize(n), n)}
	}
}

// Range returns the elements of the rows lo to hi-1.
func (c *Column) Range(lo, hi int) items.Slice { return c.all.Sub(lo, hi, c.Kind.Type.Size) }

// At returns the address of the element at a row, valid until the column grows.
func (c *Column) At(row int) unsafe.Pointer { return c.all.Pointer(row, c.Kind.Type.Size) }

// ReadAhead is [items.Type.ReadAhead].
func (c *Column) ReadAhead(rows []slotset.Row) { c.Kind.Type.ReadAhead(c.all, rows) }

// Fill copies values to the rows from row on, which have been inserted.
func (c *Column) Fill(row int, values items.Slice) {
	t := c.Kind.Type
	t.Copy(c.all.Sub(row, row+values.Len(), t.Size), values)
}

func (c *Column) NewStaleError(id handle.ID) *handle.StaleError { return c.owner.NewStaleError(id) }

// Exchange exchanges the elements of two columns of the same type and map. rows is the
// length of the map. Pointers into both columns become invalid; a checked build moves both
// arrays.
func (c *Column) Exchange(other *Column, rows int) {
	c.all, other.all = other.all, c.all
	if check.Full {
		c.grow(rows, c.all.Cap())
		other.grow(rows, other.all.Cap())
	}
}

// erase avoids typed steps for elements without pointers.
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

// grow gives the column a capacity of n and keeps the elements of rows.
func (c *Column) grow(rows, n int) {
	old := c.all
	c.all = c.Kind.Type.Grown(old.Resize(rows), n)
	poison(c.Kind.Type, old)
}

// clip limits the capacity to n, the capacity of the dense set (C1).
func (c *Column) clip(n int) { c.all = c.all.Resize(n).Clip(n) }

// arrange preserves order, which the items still need, and overwrites spare.
func (c *Column) arrange(first int, order, spare []slotset.Row) {
	// permute overwrites its order; gather does not.
	if c.Kind.Type.Size > lineBytes {
		order = spare[:copy(spare, order)]
	}
	arrange(c.Kind.Type, c.all, &c.gathered, &c.one, first, order)
}

// copyTo copies the elements of n rows. dst has room (C1).
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

// digest writes the elements of n rows to h. Their number is part of the set's digest.
func (c *Column) digest(h *digest.Hash, n int) {
	c.Kind.Type.DigestItems(h, c.all.Sub(0, n, c.Kind.Type.Size))
}

// verify checks C1 and C2.
func (c *Column) verify(rows, room int) error {
	if c.all.Len() != room || c.all.Cap() != room {
		return fmt.Errorf("C1: column %q has length %d and capacity %d, want %d", c.Kind.Name, c.all.Len(), c.all.Cap(), room)
	}
	for row := rows; row < room; row++ {
		if !c.Kind.Type.IsZero(c.At(row)) {
			return fmt.Errorf("C2: the element of column %q at row %d, beyond the length %d, is not zero", c.Kind.Name, row, rows)
		}
	}
	return nil
}

// poison fills an array that growth abandoned, in checked builds.
func poison(t *items.Type, all items.Slice) {
	if check.Full && all.Cap() > 0 && !t.Pointers {
		check.Poison(all.Data(), uintptr(all.Cap())*t.Size)
	}
}
