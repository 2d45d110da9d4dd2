package main

import (
	"errors"
	"fmt"

	"handloom/internal/report"
	"handloom/internal/trace"
)

// outcome is what a replay came to.
type outcome struct {
	verdict string // verified, mismatch, malformed, failed or interrupted
	exit    int
	reason  string // one line
}

func (o outcome) String() string {
	return fmt.Sprintf("verdict: %s (exit code %d): %s", o.verdict, o.exit, o.reason)
}

// outcome judges a replay by what it found and by what ended it. A mismatch
// outweighs an interrupt.
func (r *replay) outcome(err error) outcome {
	var malformed *trace.Error
	switch {
	case len(r.mismatches) > 0:
		return outcome{"mismatch", exitMismatch, r.mismatches[0].String()}
	case errors.Is(err, errInterrupted):
		return outcome{"interrupted", exitInterrupted, "what was replayed is verified: " + r.scope()}
	case errors.As(err, &malformed):
		return outcome{"malformed", exitBad, fmt.Sprintf("%v (nothing was replayed after tick %s)", err, report.Count(r.model.tick))}
	case err != nil:
		return outcome{"failed", exitBad, err.Error()}
	}
	return outcome{"verified", exitVerified, r.scope()}
}

// scope says what was checked.
func (r *replay) scope() string {
	var list workerList
	for _, p := range r.players {
		list = append(list, p.workers)
	}
	return fmt.Sprintf("ticks %s, workers %v, the same digest after every tick; full checks %s",
		report.Count(r.model.tick), &list, report.Count(r.full))
}
