package runner

import (
	"fmt"

	"handloom/proof/model"
)

// Kind is the kind of a failure.
type Kind string

const (
	Model       Kind = "model"       // an answer differs from a model
	Invariant   Kind = "invariant"   // Verify fails, or the store panics
	Determinism Kind = "determinism" // two runs of a program differ
	Liveness    Kind = "liveness"
	Leak        Kind = "leak"   // a goroutine leaks
	Limit       Kind = "limit"  // a limit is not kept
	Forged      Kind = "forged" // a forged handle is accepted
	Race        Kind = "race"   // the race detector reports a race
)

// Failure is the first difference of a run.
type Failure struct {
	Kind Kind   `json:"kind"`
	Line string `json:"line"` // the operation as text
	What string `json:"what"`
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: at %q: %s", f.Kind, f.Line, f.What) }

// Result is the outcome of a run.
type Result struct {
	Failure    *Failure       `json:"failure,omitempty"`
	Marks      []string       `json:"marks"`      // digest and report after every change
	Operations int            `json:"operations"` // number of operations, including commands
	Flushes    int            `json:"flushes"`
	Seen       model.Counters `json:"seen"`
}
