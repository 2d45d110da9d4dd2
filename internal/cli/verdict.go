package cli

import "fmt"

type Verdict struct {
	Name   string
	Exit   int
	Reason string // one line
}

func NewVerdict(name string, exit int, reason string) Verdict { return Verdict{name, exit, reason} }

// String returns the last line of a run. It includes the exit code, which go
// run hides.
func (v Verdict) String() string {
	return fmt.Sprintf("verdict: %s (exit code %d): %s", v.Name, v.Exit, v.Reason)
}
