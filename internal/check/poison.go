package check

import "unsafe"

// PoisonByte fills abandoned memory.
const PoisonByte = 0xDB

// Poison fills the memory of an array that growth abandoned, so that a stale pointer reads
// nonsense instead of an old value. The array must not contain pointers, because the
// collector follows them. It does nothing unless [Full] is set.
func Poison(abandoned unsafe.Pointer, bytes uintptr) {
	if !Full || bytes == 0 {
		return
	}
	for i := range unsafe.Slice((*byte)(abandoned), bytes) {
		*(*byte)(unsafe.Add(abandoned, i)) = PoisonByte
	}
}
