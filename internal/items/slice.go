package items

import (
	"fmt"
	"unsafe"
)

// Slice is a []T whose holder does not know T. The zero Slice is empty.
type Slice struct {
	data unsafe.Pointer
	len  int
	cap  int
}

// A Slice has the layout of every slice.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(Slice{})-unsafe.Sizeof([]int(nil))]
	_ = [1]struct{}{}[unsafe.Alignof(Slice{})-unsafe.Alignof([]int(nil))]
)

// As returns s as the []T that it is. What is assigned to one is seen through
// the other.
func As[T any](s *Slice) *[]T { return (*[]T)(unsafe.Pointer(s)) }

// From returns s without its T.
func From[T any](s []T) Slice { return *(*Slice)(unsafe.Pointer(&s)) }

// At returns the n elements that begin at data, with no room for more.
func At(data unsafe.Pointer, n int) Slice { return Slice{data: data, len: n, cap: n} }

// Len and Cap are those of the slice.
func (s *Slice) Len() int { return s.len }
func (s *Slice) Cap() int { return s.cap }

// Pointer returns the address of element i, of so many bytes each. It panics
// when there is no such element.
func (s *Slice) Pointer(i int, size uintptr) unsafe.Pointer {
	_ = (*(*[]struct{})(unsafe.Pointer(s)))[i] // a check that inlines
	return unsafe.Add(s.data, uintptr(i)*size)
}

// Data returns the address of element 0, if there is one.
func (s *Slice) Data() unsafe.Pointer { return s.data }

// Resize returns s with n elements, which it has room for.
func (s Slice) Resize(n int) Slice {
	if uint(n) > uint(s.cap) {
		outOfRange(n, s.cap)
	}
	s.len = n
	return s
}

// Clip returns s with room for no more than n elements.
func (s Slice) Clip(n int) Slice {
	if n < s.len || n > s.cap {
		outOfRange(n, s.cap)
	}
	s.cap = n
	return s
}

// Sub returns the elements lo to hi-1, of so many bytes each, with no room for
// more. Those between length and capacity may be asked for.
func (s Slice) Sub(lo, hi int, size uintptr) Slice {
	if lo < 0 || lo > hi || hi > s.cap {
		outOfRange(hi, s.cap)
	}
	if lo == hi { // an address behind the array may be that of another one
		return Slice{data: s.data}
	}
	return Slice{data: unsafe.Add(s.data, uintptr(lo)*size), len: hi - lo, cap: hi - lo}
}

// outOfRange panics for a bug of the code that keeps the slice.
//
//go:noinline
func outOfRange(index, of int) {
	panic(fmt.Sprintf("items: %d is out of range of %d", index, of))
}
