package handlemap

import (
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
)

// Reserve makes room for n items in all, so that inserts up to there grow no
// array. It changes capacity only, never slots; more than the map may hold is
// taken as what it may hold. A negative n panics. It takes O(Len()) time and
// invalidates pointers to items when it grows.
func (m *Map[T]) Reserve(n int) { m.bound().Reserve(n) }

// Shrink gives back the capacity that the items and slots do not use. It takes
// O(slots) time and invalidates pointers to items.
func (m *Map[T]) Shrink() { m.bound().Shrink() }

// Clone returns a copy with the same items, handles, freelist order,
// generations and depletion; fed the same calls, both evolve equally. Items are
// copied by assignment. Clone takes O(slots) time.
//
// The copy begins a history of its own: both maps will issue the same handle
// values for different items, so a handle issued by one after the cloning must
// not be used with the other.
func (m *Map[T]) Clone() *Map[T] {
	return (*Map[T])(unsafe.Pointer(m.bound().Clone()))
}

// CopyTo makes dst a copy of m: items, handles, row and freelist order,
// generations, depletion, options and what [Map.Defragment] knows. Fed the same
// calls, both evolve equally. What dst held is gone, but for its memory, which is
// used again and grows only where it is too small: with CopyTo there and back, a
// map is saved and restored without allocating. dst may be a zero Map; copying a
// map to itself does nothing.
//
// Items are copied by assignment, in bulk, unless clone is given. It is called
// for each item in dense order, to make *dst one that shares no memory with *src
// where that matters. *dst is what the row of dst held before, or zero; its
// slices, say, may be filled anew. clone may look at nothing else of the two
// maps, and when it panics, dst is left empty, as if never used.
//
// CopyTo takes O(slots) time, mostly that of copying the memory (op=checkpoint),
// and invalidates pointers to items of dst. It begins a new history in dst, as
// [Map.Clone] does: handles that dst issued may name other items from now on,
// and handle values that it issued may come again.
//
// A map that a table of a store has keeps its typeId and options: CopyTo into it
// panics unless m has the same typeId and MinFree.
func (m *Map[T]) CopyTo(dst *Map[T], clone func(dst, src *T)) {
	check.Given(dst != nil, "handlemap: CopyTo", "Map")
	var untyped func(dst, src unsafe.Pointer)
	if clone != nil {
		untyped = func(dst, src unsafe.Pointer) { clone((*T)(dst), (*T)(src)) }
	}
	m.bound().CopyTo(dst.bound(), dense.Clones{Items: untyped})
}
