package check

import (
	"reflect"
	"unsafe"
)

// PoisonByte is what abandoned memory is filled with.
const PoisonByte = 0xDB

// Poison fills an array that growth abandoned, so that a pointer kept too long
// reads nonsense instead of yesterday's value. Elements with pointers are left
// alone: the collector follows them. It does nothing unless [Full] is set.
func Poison[T any](abandoned []T) {
	if !Full || cap(abandoned) == 0 || HasPointers(reflect.TypeFor[T]()) {
		return
	}
	abandoned = abandoned[:cap(abandoned)]
	size := uintptr(cap(abandoned)) * unsafe.Sizeof(abandoned[0])
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(abandoned))), size)
	for i := range bytes {
		bytes[i] = PoisonByte
	}
}
