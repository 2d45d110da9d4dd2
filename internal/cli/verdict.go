package cli

import "fmt"

// A Verdict is the outcome of a run.
type Verdict struct {
	Name   string
	Exit   int
	Reason string // one line
}

// NewVerdict returns a verdict, whose reason is one line.
func NewVerdict(name string, exit int, reason string) Verdict { return Verdict{name, exit, reason} }

// String returns the last line of a run, because go run hides the exit code.
func (v Verdict) String() string {
	return fmt.Sprintf("verdict: %s (exit code %d): %s", v.Name, v.Exit, v.Reason)
}
