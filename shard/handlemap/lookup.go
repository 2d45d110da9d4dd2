package handlemap

import (
	"handloom/internal/rows"
	"handloom/shard/handle"
)

// StaleError is what [Map.At] panics with: a handle that names no item, and
// what its slot holds instead.
type StaleError = handle.StaleError

// Get returns a pointer to the item that h names, and whether there is one. It
// takes O(1) time and inlines (op=get).
//
// The pointer is good until the next insert, erase or reorder of the map.
func (m *Map[T]) Get(h handle.Of[T]) (*T, bool) {
	v := rows.Find[T](&m.dense, h.ID)
	return v, v != nil
}

// Has reports whether h names an item. It takes O(1) time and inlines.
func (m *Map[T]) Has(h handle.Of[T]) bool { return m.dense.Has(h.ID) }

// At returns a pointer to the item that h names, as [Map.Get] does. It panics
// with a [*StaleError] if there is none; use it where that is a bug.
func (m *Map[T]) At(h handle.Of[T]) *T {
	item := rows.Find[T](&m.dense, h.ID)
	if item == nil {
		panic(m.dense.Missing(h.ID))
	}
	return item
}

// Call calls f with the item that h names and reports whether there is one. f
// may look things up but not change the map; a change panics.
func (m *Map[T]) Call(h handle.Of[T], f func(*T)) bool { return rows.Call(&m.dense, h, f) }

// RowOf returns the row of the item that h names, and whether there is one. It
// takes O(1) time. Erasing and reordering change rows.
func (m *Map[T]) RowOf(h handle.Of[T]) (int, bool) { return m.dense.RowOf(h.ID) }

// HandleAt returns the handle of the item at row, 0 to Len()-1, in O(1) time.
// It panics, as indexing a slice does, when there is no such row.
func (m *Map[T]) HandleAt(row int) handle.Of[T] { return handle.Of[T]{ID: m.dense.IDAt(row)} }
