package nemesis

import (
	"context"
	"errors"
	"fmt"
	"os"

	"handloom/internal/cli"
)

// Exit codes of commands. Package cli has the codes of signals.
const (
	ExitPassed = 0
	ExitFailed = 1  // the run came to no end
	ExitUsage  = 2  // wrong usage
	ExitLost   = 11 // something is lost, changed, done twice, or differs
	ExitStuck  = 14 // the fleet is not healthy after an event
	ExitMissed = 20 // a fault of Canaries was not found
)

// judge judges a run. A loss outweighs the reason of its end.
func judge(ctx context.Context, r *Result, err error, canary string) cli.Verdict {
	all := fmt.Sprintf("ticks and calls lost %d, changed %d, done twice %d, diverged %d, records broken %d; zombies %d, fenced %d",
		r.Lost, r.Changed, r.Doubled, r.Diverged, r.Broken, r.Zombies, r.Fenced)
	switch {
	case canary != "" && r.Bad():
		return cli.NewVerdict("found", ExitPassed, canary+": "+r.Faults[0])
	case r.Bad():
		return cli.NewVerdict("lost", ExitLost, all)
	case ctx.Err() != nil:
		return cli.NewVerdict("interrupted", cli.Exit(ctx), "until then: "+all)
	case errors.Is(err, ErrStuck):
		return cli.NewVerdict("stuck", ExitStuck, err.Error())
	case err != nil:
		return cli.NewVerdict("failed", ExitFailed, err.Error())
	case canary != "":
		return cli.NewVerdict("missed", ExitMissed, canary+" was not found")
	}
	return cli.NewVerdict("passed", ExitPassed, all)
}

// Play does the run, prints its result, and removes a temporary folder of the run unless
// something is wrong.
func (r *Run) Play(ctx context.Context) (*Result, cli.Verdict) {
	result, err := r.Do(ctx)
	v := judge(ctx, result, err, r.Canary)
	result.Print(r.Out)
	for _, f := range result.Faults {
		fmt.Fprintln(r.Out, "fault:", f)
	}
	if !r.temporary || v.Exit == ExitLost || v.Exit == ExitStuck || v.Exit == ExitFailed {
		fmt.Fprintf(r.Out, "logs, journals and stores are in %s\n", r.Dir)
	} else if err := os.RemoveAll(r.Dir); err != nil {
		v = cli.NewVerdict("failed", ExitFailed, err.Error())
	}
	fmt.Fprintln(r.Out, v)
	return result, v
}
