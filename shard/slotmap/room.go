package slotmap

import (
	"unsafe"

	"handloom/internal/check"
)

// Reserve makes room for n items in total, up to the limits of the map, so that inserts up
// to n make no page. It changes only capacity and moves no item. It panics if n is
// negative.
func (m *Map[T]) Reserve(n int) { m.bound().Reserve(n) }

// Shrink releases the item memory of pages without items; inserts allocate it again. Items
// and slots do not change: each slot of a released page keeps 12 bytes.
// It takes O(Rows()/64) time.
func (m *Map[T]) Shrink() { m.bound().Shrink() }

// Clone returns a copy with the same items, handles, freelist order, generations and depletion;
// the same calls have the same effect on both. It copies items by assignment, to new addresses.
// It takes O(slots) time; see [Map.CopyTo].
//
// The copy begins a history of its own: both maps will issue the same handle values for different
// items, so a handle that one issues after the cloning must not be used with the other.
func (m *Map[T]) Clone() *Map[T] { return (*Map[T])(unsafe.Pointer(m.bound().Clone())) }

// CopyTo makes dst a copy of m: items, handles, freelist order, generations, depletion and options.
// The same calls then have the same effect on both. CopyTo reuses the pages of dst in place: a map
// that is copied and copied back has every item at its old address, unless [Map.Shrink] released
// its page in between, without allocation. dst may be a zero Map. A copy of a map to itself has no
// effect.
//
// Items are copied by assignment, in bulk, unless clone is set. clone is called for each item by
// ascending row and makes *dst a copy without shared memory. *dst is the old item of the row or
// zero; its slices may be reused. clone must not use the maps. If it panics, dst is empty, as if
// never used.
//
// CopyTo takes O(slots) time, nearly all of it for the copy of memory (op=checkpoint). It begins a
// new history in dst, as [Map.Clone] does: old handles of dst may name other items, and handle
// values may repeat.
//
// A map of a table keeps its typeId and options: CopyTo into it panics unless m has the same typeId
// and MinFree.
func (m *Map[T]) CopyTo(dst *Map[T], clone func(dst, src *T)) {
	check.Given(dst != nil, "slotmap: CopyTo", "Map")
	var untyped func(dst, src unsafe.Pointer)
	if clone != nil {
		untyped = func(dst, src unsafe.Pointer) { clone((*T)(dst), (*T)(src)) }
	}
	m.bound().CopyTo(dst.bound(), untyped)
}
