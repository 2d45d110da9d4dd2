package handle

import "unsafe"

// Of is the handle of an item of type T: an [ID] with a type of its own. Call the
// methods of its ID: h.ID.IsZero(), h.ID.Slot(). Of has only the text form, for
// printing and JSON, also as map keys; more methods would be compiled for each item type.
//
// It is 8 bytes, comparable and usable as a map key. Numbers and handles of other types do not
// convert to it; with Of[T]{ID: id} the caller asserts the type. A wrong assertion is safe: a
// handle of another type resolves to nothing.
type Of[T any] struct {
	_  [0]*T // makes Of[A] and Of[B] different types, at no size
	ID ID
}

// String returns the text form; see [ID.String].
func (h Of[T]) String() string { return h.ID.String() }

// MarshalText returns the text form. The error is always nil.
func (h Of[T]) MarshalText() ([]byte, error) { return h.ID.MarshalText() }

// UnmarshalText sets h from the text form of a handle of any type; see [ID.UnmarshalText].
func (h *Of[T]) UnmarshalText(text []byte) error { return h.ID.UnmarshalText(text) }

// IDs returns hs untyped, in the same memory. It takes O(1) time.
func IDs[T any](hs []Of[T]) []ID {
	return unsafe.Slice((*ID)(unsafe.Pointer(unsafe.SliceData(hs))), cap(hs))[:len(hs)]
}

// required by IDs
var _ = [1]struct{}{}[unsafe.Sizeof(Of[int]{})-unsafe.Sizeof(ID(0))]

// Typed returns ids as handles of T, in the same memory; the caller asserts T. It takes
// O(1) time.
func Typed[T any](ids []ID) []Of[T] {
	return unsafe.Slice((*Of[T])(unsafe.Pointer(unsafe.SliceData(ids))), cap(ids))[:len(ids)]
}
