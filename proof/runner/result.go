package runner

import (
	"fmt"

	"handloom/proof/model"
)

// Kind is the kind of a failure.
type Kind string

// The kinds of failures.
const (
	Model       Kind = "model"       // an answer is not what a model says
	Invariant   Kind = "invariant"   // Verify, or a panic where there must be none
	Determinism Kind = "determinism" // two runs of a program differ
	Liveness    Kind = "liveness"    // something does not end
	Leak        Kind = "leak"        // something is left behind
	Limit       Kind = "limit"       // a limit is not kept
	Forged      Kind = "forged"      // a handle that names nothing is accepted
	Race        Kind = "race"        // the race detector says so
)

// Failure is one thing that is not as it must be.
type Failure struct {
	Kind Kind   `json:"kind"`
	Line string `json:"line"` // the operation, as its program has it
	What string `json:"what"` // one line, or more after the first
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: at %q: %s", f.Kind, f.Line, f.What) }

// Result is what came of playing a program.
type Result struct {
	Failure    *Failure       `json:"failure,omitempty"`
	Marks      []string       `json:"marks"`      // after every change: digest and report
	Operations int            `json:"operations"` // done, commands included
	Flushes    int            `json:"flushes"`
	Seen       model.Counters `json:"seen"`
}
