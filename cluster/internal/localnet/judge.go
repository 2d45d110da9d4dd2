package localnet

import (
	"context"
	"errors"
	"os"
	"runtime"

	"handloom/internal/cli"
)

// Exit codes of commands. Package cli has the codes of signals.
const (
	ExitPassed = 0
	ExitFailed = 1 // the run could not finish
	ExitUsage  = 2
	ExitLost   = 11 // lost, changed, repeated or different
	ExitStuck  = 14 // the fleet did not recover
)

// Play plays a run, closes the fleet, and returns the verdict. A fault outweighs other errors. play
// returns a summary. The files of a failed run remain.
func (f *Fleet) Play(ctx context.Context, play func() (all string, err error)) cli.Verdict {
	runtime.LockOSThread() // children die with the thread that started them
	defer runtime.UnlockOSThread()
	all, err := play()
	f.Close()
	faults := f.Faults()
	if len(faults) > 0 || err != nil && ctx.Err() == nil {
		f.Logf("logs, journals and stores are in %s", f.Dir)
	} else {
		err = errors.Join(err, os.RemoveAll(f.Dir))
	}
	switch {
	case len(faults) > 0:
		return cli.NewVerdict("lost", ExitLost, faults[0]+"; "+all)
	case ctx.Err() != nil:
		return cli.NewVerdict("interrupted", cli.Exit(ctx), "until then: "+all)
	case errors.Is(err, ErrStuck):
		return cli.NewVerdict("stuck", ExitStuck, err.Error())
	case err != nil:
		return cli.NewVerdict("failed", ExitFailed, err.Error())
	}
	return cli.NewVerdict("passed", ExitPassed, all)
}
