package nemesis

import (
	"context"
	"errors"
	"fmt"

	"handloom/internal/cli"
)

// Exit codes of commands. Package cli has the codes of signals.
const (
	ExitPassed = 0
	ExitFailed = 1 // the run could not finish
	ExitUsage  = 2
	ExitLost   = 11 // lost, changed, repeated or different
	ExitStuck  = 14 // the fleet did not recover
	ExitMissed = 20 // a mutant was not found
)

// judge returns the verdict. A loss outweighs other errors.
func judge(ctx context.Context, r *Result, err error, mutant string) cli.Verdict {
	all := fmt.Sprintf("ticks and calls lost %d, changed %d, done twice %d, diverged %d, records broken %d; zombies %d, fenced %d",
		r.Lost, r.Changed, r.Doubled, r.Diverged, r.Broken, r.Zombies, r.Fenced)
	switch {
	case mutant != "" && r.Bad():
		return cli.NewVerdict("found", ExitPassed, mutant+": "+r.Faults[0])
	case r.Bad():
		return cli.NewVerdict("lost", ExitLost, all)
	case ctx.Err() != nil:
		return cli.NewVerdict("interrupted", cli.Exit(ctx), "until then: "+all)
	case errors.Is(err, ErrStuck):
		return cli.NewVerdict("stuck", ExitStuck, err.Error())
	case err != nil:
		return cli.NewVerdict("failed", ExitFailed, err.Error())
	case mutant != "":
		return cli.NewVerdict("missed", ExitMissed, mutant+" was not found")
	}
	return cli.NewVerdict("passed", ExitPassed, all)
}
