package trace

import "fmt"

// Error is an error in a trace file, the only error besides [io.EOF]. It prints
// as file:line: reason.
type Error struct {
	File   string
	Line   int // from 1
	Reason string
	Err    error // error of the input or its decompression, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }
