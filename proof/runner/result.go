package runner

import (
	"fmt"

	"handloom/proof/model"
	"handloom/proof/script"
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
)

// Failure is the first difference of a run.
type Failure struct {
	Kind Kind
	Line string // the operation as text
	What string
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: at %q: %s", f.Kind, f.Line, f.What) }

// Result is the outcome of a run, or of several.
type Result struct {
	Failure    *Failure
	Configs    []script.Config // of the failure of [Under]
	Marks      []string        // digest and report after every change
	Operations int             // number of operations, including commands
	Flushes    int
	Seen       model.Counters
}
