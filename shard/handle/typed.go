package handle

import "unsafe"

// Of is the handle of an item of type T: an [ID] that the compiler keeps apart
// from the handles of every other type. What a handle can tell, its ID tells:
// h.ID.IsZero(), h.ID.Slot(). Of itself has the text form only, so that handles
// print and work in JSON, also as map keys; more methods would be compiled for each
// item type of a program.
//
// It is 8 bytes, comparable and good as a map key. Neither a number nor a
// handle of another type converts to it; Of[T]{ID: id} says plainly that the
// caller vouches for the type. That is safe even when wrong: a handle of
// another type resolves to nothing.
type Of[T any] struct {
	_  [0]*T // makes Of[A] and Of[B] different structures, at no size
	ID ID
}

// String returns the text form; see [ID.String].
func (h Of[T]) String() string { return h.ID.String() }

// MarshalText returns the text form. The error is always nil.
func (h Of[T]) MarshalText() ([]byte, error) { return h.ID.MarshalText() }

// UnmarshalText sets h from its text form, of whichever type; see
// [ID.UnmarshalText].
func (h *Of[T]) UnmarshalText(text []byte) error { return h.ID.UnmarshalText(text) }

// IDs returns the handles of hs untyped. Both slices share their memory. It
// takes O(1) time.
func IDs[T any](hs []Of[T]) []ID {
	return unsafe.Slice((*ID)(unsafe.Pointer(unsafe.SliceData(hs))), cap(hs))[:len(hs)]
}

// IDs rests on this.
var _ = [1]struct{}{}[unsafe.Sizeof(Of[int]{})-unsafe.Sizeof(ID(0))]

// Typed returns the handles of ids typed: the caller vouches for T, as in
// Of[T]{ID: id}. Both slices share their memory. It takes O(1) time.
func Typed[T any](ids []ID) []Of[T] {
	return unsafe.Slice((*Of[T])(unsafe.Pointer(unsafe.SliceData(ids))), cap(ids))[:len(ids)]
}
