package dense

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/slotset"
)

// Inline instantiates functions that are generic only to be inlined: importers can inline
// the bodies of generic functions, but other bodies only if this package inlines them
// itself.
type Inline struct{}

// Words returns the slot words and Array the address of the dense set, a []T, for inlined
// lookups of a map (op=get).
func Words[_ any](d *Set) []handle.ID    { return d.set.Words }
func Array[_ any](d *Set) unsafe.Pointer { return unsafe.Pointer(&d.items) }

// Find takes O(1) time and inlines, also within a table method that finds the map first
// (op=get).
func Find[T any](d *Set, id handle.ID) (*T, bool) {
	words := d.set.Words
	if i := uint64(id) & slotset.IndexMask; i < uint64(len(words)) {
		if w := words[i]; (w^id)>>32 == 0 {
			return &(*(*[]T)(unsafe.Pointer(&d.items)))[uint32(w)], true
		}
	}
	return nil, false
}

// FindColumn is [Find] for an element of type C.
func FindColumn[C any](c *Column, id handle.ID) (*C, bool) {
	words := c.owner.set.Words
	if i := uint64(id) & slotset.IndexMask; i < uint64(len(words)) {
		if w := words[i]; (w^id)>>32 == 0 {
			return &(*(*[]C)(unsafe.Pointer(&c.all)))[uint32(w)], true
		}
	}
	return nil, false
}

// Has reports whether id names an item. It takes O(1) time and inlines.
func (d *Set) Has(id handle.ID) bool {
	i := uint64(id) & slotset.IndexMask
	return i < uint64(len(d.set.Words)) && (d.set.Words[i]^id)>>32 == 0
}

// NewStaleError returns the panic value of the At methods.
func (d *Set) NewStaleError(id handle.ID) *handle.StaleError {
	return &handle.StaleError{Handle: id, Held: d.set.Held(id), TypeID: d.TypeID()}
}

// Item returns the address of the item of id, or nil.
func (d *Set) Item(id handle.ID) unsafe.Pointer {
	if row, ok := d.set.Lookup(id); ok {
		return d.items.Pointer(int(row), d.typ.Size)
	}
	return nil
}

// RowOf returns the row of the item of id, and whether it exists.
func (d *Set) RowOf(id handle.ID) (int, bool) {
	row, ok := d.set.Lookup(id)
	return int(row), ok
}

// RowsOf sets rows[i] to the row of ids[i], or to [slotset.NoRow].
func (d *Set) RowsOf(ids []handle.ID, rows []slotset.Row) { d.set.LookupAll(ids, rows) }

// IDAt returns the handle of the item at a row, which must exist. The generation is in the
// slot word, so it takes one access more than the row.
func (d *Set) IDAt(row int) handle.ID {
	slot := d.meta[row]
	return d.set.Words[slot]&slotset.UpperHalf | handle.ID(slot)
}

// IDsAt is [Set.IDAt] for several rows; it sets ids[i].
func (d *Set) IDsAt(rows []uint32, ids []handle.ID) {
	meta, words := d.meta, d.set.Words
	for i, row := range rows {
		slot := meta[row]
		ids[i] = words[slot]&slotset.UpperHalf | handle.ID(slot)
	}
}

// All is the untyped iteration in dense order.
func (d *Set) All(yield func(id handle.ID, item unsafe.Pointer) bool) { d.From(0, yield) }

// From skips the first n items in O(1) time.
func (d *Set) From(n int, yield func(id handle.ID, item unsafe.Pointer) bool) {
	for row := n; row < len(d.meta); row++ {
		if !yield(d.IDAt(row), d.items.Pointer(row, d.typ.Size)) {
			return
		}
	}
}
