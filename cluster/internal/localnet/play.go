package localnet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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

// Main is the main function of a command. It runs a child of a fleet, prints the usage, reports
// wrong flags, or plays.
func Main[O any](usage string, node Node, parse func(args []string) (O, error), play func(ctx context.Context, o O, out io.Writer) cli.Verdict) {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		os.Exit(Child(os.Args[2:], os.Stdin, os.Stdout, node))
	}
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	case err != nil:
		fmt.Fprintf(os.Stderr, "%v; -h lists the flags\n", err)
		os.Exit(ExitUsage)
	default:
		os.Exit(play(cli.Context(), o, os.Stdout).Exit)
	}
}

// Play creates a fleet for a run, closes it, and prints the verdict. A fault outweighs other
// errors. run returns a summary. The files of a failed run remain.
func Play(ctx context.Context, o Options, run func(f *Fleet) (all string, err error)) (v cli.Verdict) {
	runtime.LockOSThread() // children die with the thread that started them
	defer runtime.UnlockOSThread()
	f, err := newFleet(o)
	all := ""
	if err == nil {
		all, err = run(f)
	}
	f.close()
	defer func() { fmt.Fprintln(f.Out, v) }()
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
