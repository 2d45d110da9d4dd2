package dense

import (
	"fmt"
	"slices"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// Insert adds v after the last row and returns its handle in O(1) amortized time. It fails
// with [handle.ErrFull] and changes nothing.
//
// It is in one piece, because calls to the sparse set would double its time (op=insert,
// op=churn, op=refillrandom).
func Insert[T any](d *Set, v T) (handle.Of[T], error) {
	all := (*[]T)(unsafe.Pointer(&d.items)) // As would add a load although it inlines
	row := len(d.meta)
	// Room in the meta set is room in the dense set (S1), whose capacity MaxItems limits.
	// So the fast path compares no limit.
	if row >= cap(d.meta) || d.busy != 0 {
		return insertSlow(d, v)
	}
	upper, slot := d.set.Next, len(d.set.Words)
	if upper != 0 {
		if slot >= cap(d.set.Words) {
			return insertSlow(d, v)
		}
		// A new slot: no vacant slot may go first.
		d.set.Words = d.set.Words[:slot+1]
		d.set.Words[slot] = upper | handle.ID(row)
	} else {
		// A vacant slot, the oldest.
		front, ok := slotset.TryPop[Inline](&d.set.Freelist)
		if !ok {
			return insertSlow(d, v)
		}
		w := &d.set.Words[front]
		upper, slot = slotset.Reissue[Inline](&d.set.Freelist, *w), int(front)
		*w = upper | handle.ID(row)
	}
	// The word has the row already, and now the row gets its slot (S2).
	d.meta = d.meta[:row+1]
	d.meta[row] = slotset.Slot(slot)
	*all = (*all)[:row+1]
	// Elements of columns at the row are zero already (C2).
	(*all)[row] = v
	return handle.Of[T]{ID: upper | handle.ID(slot)}, nil
}

// insertSlow handles a wrap of the freelist ring, the first fresh slot after vacant ones,
// growth, limits and running callbacks.
func insertSlow[T any](d *Set, v T) (handle.Of[T], error) {
	// A zero map gets its item type with the first insert.
	id, err := Bind[T](d).addRow()
	if err == nil {
		all := *items.As[T](&d.items)
		all[len(all)-1] = v
	}
	return handle.Of[T]{ID: id}, err
}

// addRow adds a row whose item the caller sets.
func (d *Set) addRow() (handle.ID, error) {
	d.guard("Insert")
	row := len(d.meta)
	if row < cap(d.meta) {
		if id, ok := d.set.TryIssue(slotset.Row(row)); ok {
			d.meta = append(d.meta, slotset.Slot(id))
			d.items = d.items.Resize(row + 1)
			return id, nil
		}
	}
	if err := d.makeRoom(1); err != nil {
		return 0, err
	}
	d.items = d.items.Resize(row + 1)
	// The slot may be new and the words may have moved, so the bulk path issues it.
	var h [1]handle.ID
	d.issue(h[:])
	return h[0], nil
}

// InsertItems inserts all or, with [handle.ErrFull], none. It takes O(n) time and grows
// each array at most once (op=insertitems).
func (d *Set) InsertItems(values items.Slice, dst []handle.ID) ([]handle.ID, error) {
	d.guard("InsertItems")
	n := values.Len()
	switch n {
	case 0:
		return dst, nil
	case 1: // op=manytables
		id, err := d.addRow()
		if err == nil {
			d.typ.Set(d.items.Pointer(len(d.meta)-1, d.typ.Size), values.Data())
			dst = append(dst, id)
		}
		return dst, err
	}
	if err := d.makeRoom(n); err != nil {
		return dst, err
	}
	row := len(d.meta)
	d.items = d.items.Resize(row + n)
	// Nothing can fail from here on.
	d.typ.Copy(d.items.Sub(row, row+n, d.typ.Size), values)
	dst = slices.Grow(dst, n)
	d.issue(dst[len(dst) : len(dst)+n])
	return dst[:len(dst)+n], nil
}

// stage begins to add n items with these handles. The caller fills the rows past the length
// and calls finishStaged.
func (d *Set) stage(operation string, n int, dst []handle.ID) ([]handle.ID, error) {
	d.guard(operation)
	if n < 0 {
		panic(fmt.Sprintf("handlemap: %s of %d items; n must not be negative", operation, n))
	}
	if err := d.makeRoom(n); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, n)
	// The handles are known before the items, and are issued only if all items are filled
	// in.
	d.set.Preview(dst[len(dst) : len(dst)+n])
	// Callbacks may look up, not change: the previewed handles must stay the next ones.
	d.busy++
	d.staged = n
	return dst[:len(dst)+n], nil
}

// finishStaged ends stage. Unless all rows are filled in, it drops them: nothing was
// issued.
func (d *Set) finishStaged(handles []handle.ID, filled bool) {
	d.busy--
	d.staged = 0
	row, n := len(d.meta), len(handles)
	if !filled {
		d.release(row, row+n)
		return
	}
	d.items = d.items.Resize(row + n)
	d.issue(handles)
}

// EmplaceItems inserts all n items or, with [handle.ErrFull] or if f panics, none.
func EmplaceItems[T any](d *Set, n int, f func(i int, h handle.Of[T], v *T), dst []handle.ID) ([]handle.ID, error) {
	if n == 0 {
		d.guard("EmplaceItems")
		return dst, nil
	}
	all, err := d.stage("EmplaceItems", n, dst)
	if err != nil {
		return dst, err
	}
	// filled stays false if f panics or ends the goroutine.
	handles, filled := all[len(dst):], false
	defer func() { d.finishStaged(handles, filled) }()
	rows := (*items.As[T](&d.items))[len(d.meta) : len(d.meta)+n]
	// Rows with pointers are zero already (S4).
	if !d.typ.Pointers {
		clear(rows) // of erased items
	}
	for i := range rows {
		f(i, handle.Of[T]{ID: handles[i]}, &rows[i])
	}
	filled = true
	return all, nil
}

// issue issues slots for the rows from the length of the meta set on. makeRoom has made
// room.
func (d *Set) issue(handles []handle.ID) {
	row := len(d.meta)
	d.meta = d.meta[:row+len(handles)]
	d.set.Issue(slotset.Row(row), d.meta[row:], handles)
}

// InsertFunc is [EmplaceItems] of one item.
func InsertFunc[T any](d *Set, f func(h handle.Of[T], v *T)) (handle.Of[T], error) {
	d.guard("InsertFunc")
	// The array for the handle belongs to the map, so it is allocated once.
	one, err := EmplaceItems(d, 1, func(_ int, h handle.Of[T], v *T) { f(h, v) }, d.one[:0])
	if err != nil {
		return handle.Of[T]{}, err
	}
	d.one = one
	return handle.Of[T]{ID: one[0]}, nil
}
