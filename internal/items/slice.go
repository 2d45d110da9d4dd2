package items

import (
	"fmt"
	"unsafe"
)

// Slice is a []T without T. The zero Slice is empty.
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

// As returns s as a []T. Both share their header.
func As[T any](s *Slice) *[]T { return (*[]T)(unsafe.Pointer(s)) }

// From returns s without its T.
func From[T any](s []T) Slice { return *(*Slice)(unsafe.Pointer(&s)) }

// At returns the n elements at data.
func At(data unsafe.Pointer, n int) Slice { return Slice{data: data, len: n, cap: n} }

// Len and Cap return length and capacity.
func (s *Slice) Len() int { return s.len }
func (s *Slice) Cap() int { return s.cap }

// Pointer returns the address of element i of size bytes. It panics if i is out of range.
func (s *Slice) Pointer(i int, size uintptr) unsafe.Pointer {
	_ = (*(*[]struct{})(unsafe.Pointer(s)))[i] // bounds check that inlines
	return unsafe.Add(s.data, uintptr(i)*size)
}

// Data returns the address of element 0, if any.
func (s *Slice) Data() unsafe.Pointer { return s.data }

// Resize returns s with length n, at most the capacity.
func (s Slice) Resize(n int) Slice {
	if uint(n) > uint(s.cap) {
		outOfRange(n, s.cap)
	}
	s.len = n
	return s
}

func (s Slice) Clip(n int) Slice {
	if n < s.len || n > s.cap {
		outOfRange(n, s.cap)
	}
	s.cap = n
	return s
}

// Sub returns the elements lo to hi-1 of size bytes, with equal length and capacity. hi may
// exceed the length up to the capacity.
func (s Slice) Sub(lo, hi int, size uintptr) Slice {
	if lo < 0 || lo > hi || hi > s.cap {
		outOfRange(hi, s.cap)
	}
	if lo == hi { // an address past the array may belong to another object
		return Slice{data: s.data}
	}
	return Slice{data: unsafe.Add(s.data, uintptr(lo)*size), len: hi - lo, cap: hi - lo}
}

// outOfRange panics: the owner of the slice has a bug.
//
//go:noinline
func outOfRange(index, limit int) {
	panic(fmt.Sprintf("items: %d is out of range of %d", index, limit))
}
