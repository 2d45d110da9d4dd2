package items

import "unsafe"

// Compare, Key, Chosen and ByName convert user functions for code without T. The result is
// the same function value, because every pointer is passed alike. So no closure is made and
// a call costs the same; the arguments must be addresses of Ts.
func Compare[T any](f func(a, b *T) int) func(a, b unsafe.Pointer) int {
	return *(*func(a, b unsafe.Pointer) int)(unsafe.Pointer(&f))
}

// Key is [Compare] for keys.
func Key[T any](f func(*T) uint64) func(unsafe.Pointer) uint64 {
	return *(*func(unsafe.Pointer) uint64)(unsafe.Pointer(&f))
}

// Chosen is [Compare] for conditions.
func Chosen[T any](f func(*T) bool) func(unsafe.Pointer) bool {
	return *(*func(unsafe.Pointer) bool)(unsafe.Pointer(&f))
}

// ByName is [Compare] for a map of functions with another parameter F.
func ByName[T, F any](m map[string]func(F, *T) error) map[string]func(F, unsafe.Pointer) error {
	return *(*map[string]func(F, unsafe.Pointer) error)(unsafe.Pointer(&m))
}
