package trace

import "fmt"

// Error is a fault of a trace file: the one kind of error that readers and
// checkers return, [io.EOF] aside. It prints as one line, file:line: reason.
type Error struct {
	File   string // the name given to [NewReader] or [NewChecker]
	Line   int    // counted from 1
	Reason string
	Err    error // what the input or its decompression said, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// Unwrap returns e.Err, so that [errors.Is] finds what a failing disk said.
func (e *Error) Unwrap() error { return e.Err }
