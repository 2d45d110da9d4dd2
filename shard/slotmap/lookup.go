package slotmap

import (
	"handloom/handle"
	"handloom/internal/paged"
)

// Get returns a pointer to the item of h and whether it exists. It takes O(1) time and
// inlines (op=get). The pointer is valid while the item lives. Afterwards its memory
// belongs to the next item in the slot.
func (m *Map[T]) Get(h handle.Of[T]) (*T, bool) {
	return paged.Find[T](&m.stable, h.ID)
}

// Has reports whether h names an item. It takes O(1) time and inlines.
func (m *Map[T]) Has(h handle.Of[T]) bool {
	_, ok := paged.Find[T](&m.stable, h.ID)
	return ok
}

// At returns a pointer to the item of h, as [Map.Get] does. It panics with a
// [*handle.StaleError] if the item does not exist.
func (m *Map[T]) At(h handle.Of[T]) *T {
	item, ok := paged.Find[T](&m.stable, h.ID)
	if !ok {
		panic(m.stable.NewStaleError(h.ID))
	}
	return item
}

// RowOf returns the row of the item of h, which is its slot, and whether it exists. It
// takes O(1) time. A row never changes.
func (m *Map[T]) RowOf(h handle.Of[T]) (int, bool) {
	if m.Has(h) {
		return int(h.ID.Slot()), true
	}
	return 0, false
}

// HandleAt returns the handle of the item at row, or the null handle if the row is empty,
// in O(1) time. It panics unless 0 <= row < Rows().
func (m *Map[T]) HandleAt(row int) handle.Of[T] { return handle.Of[T]{ID: m.stable.IDAt(row)} }
