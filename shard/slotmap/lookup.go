package slotmap

import (
	"handloom/internal/paged"
	"handloom/shard/handle"
)

// Get returns a pointer to the item that h names, and whether there is one. It
// takes O(1) time and inlines (op=get).
//
// The pointer is good as long as the item lives. Afterwards its memory belongs
// to the item that takes the slot next.
func (m *Map[T]) Get(h handle.Of[T]) (*T, bool) {
	return paged.Find[T](&m.stable, h.ID)
}

// Has reports whether h names an item. It takes O(1) time and inlines.
func (m *Map[T]) Has(h handle.Of[T]) bool {
	_, ok := paged.Find[T](&m.stable, h.ID)
	return ok
}

// At returns a pointer to the item that h names, as [Map.Get] does. It panics
// with a [*handle.StaleError] if there is none; use it where that is a bug.
func (m *Map[T]) At(h handle.Of[T]) *T {
	item, ok := paged.Find[T](&m.stable, h.ID)
	if !ok {
		panic(m.stable.NewStaleError(h.ID))
	}
	return item
}

// RowOf returns the row of the item that h names, which is its slot, and
// whether there is one. It takes O(1) time. A row never changes.
func (m *Map[T]) RowOf(h handle.Of[T]) (int, bool) {
	if m.Has(h) {
		return int(h.ID.Slot()), true
	}
	return 0, false
}

// HandleAt returns the handle of the item at row, 0 to Rows()-1, or the null
// handle when the row has none, in O(1) time. It panics, as indexing a slice
// does, when there is no such row.
func (m *Map[T]) HandleAt(row int) handle.Of[T] { return handle.Of[T]{ID: m.stable.IDAt(row)} }
