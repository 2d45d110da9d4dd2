package main

import (
	"errors"
	"fmt"

	"handloom/internal/cli"
	"handloom/internal/report"
	"handloom/internal/trace"
)

// outcome returns the verdict on a replay. A mismatch outweighs an interrupt.
func (r *replay) outcome(err error) cli.Verdict {
	var malformed *trace.Error
	switch {
	case len(r.mismatches) > 0:
		return cli.NewVerdict("mismatch", exitMismatch, r.mismatches[0].String())
	case errors.Is(err, errInterrupted):
		return cli.NewVerdict("interrupted", exitInterrupted, "what was replayed is verified: "+r.scope())
	case errors.As(err, &malformed):
		return cli.NewVerdict("malformed", exitBad, fmt.Sprintf("%v (nothing was replayed after tick %s)", err, report.Count(r.model.tick)))
	case err != nil:
		return cli.NewVerdict("failed", exitBad, err.Error())
	}
	return cli.NewVerdict("verified", exitVerified, r.scope())
}

func (r *replay) scope() string {
	var list cli.Numbers
	for _, p := range r.players {
		list = append(list, p.workers)
	}
	return fmt.Sprintf("ticks %s, workers %v, the same digest after every tick; full checks %s",
		report.Count(r.model.tick), &list, report.Count(r.full))
}
