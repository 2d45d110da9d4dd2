package handle

import "unsafe"

// Of is the handle of an item of type T: an [ID] that the compiler keeps apart
// from the handles of every other type. It has the methods of ID.
//
// It is 8 bytes, comparable and good as a map key. Neither a number nor a
// handle of another type converts to it; Of[T]{ID: id} says plainly that the
// caller vouches for the type. That is safe even when wrong: a handle of
// another type resolves to nothing.
type Of[T any] struct {
	_ [0]*T // makes Of[A] and Of[B] different structures, at no size
	ID
}

// Compare orders typed handles as [ID.Compare] does.
func (h Of[T]) Compare(other Of[T]) int { return h.ID.Compare(other.ID) }

// IDs returns the handles of hs untyped. Both slices share their memory. It
// takes O(1) time.
func IDs[T any](hs []Of[T]) []ID {
	return unsafe.Slice((*ID)(unsafe.Pointer(unsafe.SliceData(hs))), len(hs))
}

// IDs rests on this.
var _ = [1]struct{}{}[unsafe.Sizeof(Of[int]{})-unsafe.Sizeof(ID(0))]
