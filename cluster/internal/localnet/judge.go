package localnet

import (
	"context"
	"errors"

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

// Judge returns the verdict on a run that ended with err. A loss outweighs other errors.
func Judge(ctx context.Context, lost bool, err error, all string) cli.Verdict {
	switch {
	case lost:
		return cli.NewVerdict("lost", ExitLost, all)
	case ctx.Err() != nil:
		return cli.NewVerdict("interrupted", cli.Exit(ctx), "until then: "+all)
	case errors.Is(err, ErrStuck):
		return cli.NewVerdict("stuck", ExitStuck, err.Error())
	case err != nil:
		return cli.NewVerdict("failed", ExitFailed, err.Error())
	}
	return cli.NewVerdict("passed", ExitPassed, all)
}
