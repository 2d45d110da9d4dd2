package handlemap

import (
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
)

// Reserve makes room for n items in total, up to the limits of the map, so that inserts up
// to n grow no array. It changes only capacity. It panics if n is negative. It takes
// O(Len()) time and invalidates pointers to items if it grows.
func (m *Map[T]) Reserve(n int) { m.bound().Reserve(n) }

// Shrink releases unused capacity. It takes O(slots) time and invalidates pointers to
// items.
func (m *Map[T]) Shrink() { m.bound().Shrink() }

// Clone returns a copy with the same items, handles, freelist order, generations and depletion;
// the same calls have the same effect on both. It copies items by assignment. It takes O(slots)
// time.
//
// The copy begins a history of its own: both maps will issue the same handle values for different
// items, so a handle that one issues after the cloning must not be used with the other.
func (m *Map[T]) Clone() *Map[T] {
	return (*Map[T])(unsafe.Pointer(m.bound().Clone()))
}

// CopyTo makes dst a copy of m: items, handles, row and freelist order, generations, depletion,
// options and the state of [Map.Defragment]. The same calls then have the same effect on both.
// CopyTo reuses the memory of dst, which grows only if it is too small: saving and restoring a map
// with CopyTo does not allocate. dst may be a zero Map. A copy of a map to itself has no effect.
//
// Items are copied by assignment, in bulk, unless clone is set. clone is called for each item in
// dense order and makes *dst a copy without shared memory. *dst is the old item of the row or
// zero; its slices may be reused. clone must not use the maps. If it panics, dst is empty, as if
// never used.
//
// CopyTo takes O(slots) time, nearly all of it for the copy of memory (op=checkpoint), and
// invalidates pointers to items of dst. It begins a new history in dst, as [Map.Clone] does: old
// handles of dst may name other items, and handle values may repeat.
//
// A map of a table keeps its typeId and options: CopyTo into it panics unless m has the same typeId
// and MinFree.
func (m *Map[T]) CopyTo(dst *Map[T], clone func(dst, src *T)) {
	check.Given(dst != nil, "handlemap: CopyTo", "Map")
	var untyped func(dst, src unsafe.Pointer)
	if clone != nil {
		untyped = func(dst, src unsafe.Pointer) { clone((*T)(dst), (*T)(src)) }
	}
	m.bound().CopyTo(dst.bound(), dense.CloneFuncs{Items: untyped})
}
