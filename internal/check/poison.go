package check

import "unsafe"

// PoisonByte is what abandoned memory is filled with.
const PoisonByte = 0xDB

// Poison fills so many bytes of an array that growth abandoned, so that a pointer
// kept too long reads nonsense instead of yesterday's value. Arrays with pointers
// must be left alone: the collector follows them. It does nothing unless [Full] is
// set.
func Poison(abandoned unsafe.Pointer, bytes uintptr) {
	if !Full || bytes == 0 {
		return
	}
	for i := range unsafe.Slice((*byte)(abandoned), bytes) {
		*(*byte)(unsafe.Add(abandoned, i)) = PoisonByte
	}
}
