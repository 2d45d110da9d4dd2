package check

import (
	"bytes"
	"runtime"
	"strconv"
)

// Goroutine returns the number of the calling goroutine, as stack traces have it,
// or 0. It takes microseconds and is for checks alone.
func Goroutine() uint64 {
	var line [64]byte
	text := bytes.TrimPrefix(line[:runtime.Stack(line[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	number, _ := strconv.ParseUint(string(digits), 10, 64)
	return number
}
