package check

import (
	"bytes"
	"runtime"
)

// Goroutine returns the number of the calling goroutine as in stack traces, or 0. It takes
// microseconds; only checks use it.
func Goroutine() uint64 {
	var line [64]byte
	text := bytes.TrimPrefix(line[:runtime.Stack(line[:], false)], []byte("goroutine "))
	number := uint64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		number = number*10 + uint64(c-'0')
	}
	return number
}
