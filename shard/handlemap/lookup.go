package handlemap

import (
	"handloom/handle"
	"handloom/internal/dense"
	"handloom/internal/slotset"
)

// Get returns a pointer to the item of h and whether it exists. It takes O(1) time and
// inlines (op=get). The pointer is valid until the next insert, erase or reorder of the
// map.
func (m *Map[T]) Get(h handle.Of[T]) (*T, bool) {
	// Inlined by hand: in generic code a generic callee costs a load, even if it inlines.
	words := dense.Words[dense.Inline](&m.dense)
	if i := uint64(h.ID) & slotset.IndexMask; i < uint64(len(words)) {
		if w := words[i]; (w^h.ID)>>32 == 0 {
			return &(*(*[]T)(dense.Array[dense.Inline](&m.dense)))[uint32(w)], true
		}
	}
	return nil, false
}

// Has reports whether h names an item. It takes O(1) time and inlines.
func (m *Map[T]) Has(h handle.Of[T]) bool {
	_, ok := m.Get(h)
	return ok
}

// At returns a pointer to the item of h, as [Map.Get] does. It panics with a
// [*handle.StaleError] if the item does not exist.
func (m *Map[T]) At(h handle.Of[T]) *T {
	item, ok := m.Get(h)
	if !ok {
		panic(m.dense.NewStaleError(h.ID))
	}
	return item
}

// RowOf returns the row of the item of h and whether it exists. It takes O(1) time. Erases
// and reorders change rows.
func (m *Map[T]) RowOf(h handle.Of[T]) (int, bool) { return m.dense.RowOf(h.ID) }

// HandleAt returns the handle of the item at row in O(1) time. It panics unless 0 <= row <
// Len().
func (m *Map[T]) HandleAt(row int) handle.Of[T] { return handle.Of[T]{ID: m.dense.IDAt(row)} }
