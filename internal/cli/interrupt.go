// Package cli has the conventions of the command-line programs: signals end a
// run early and in order, exit codes name the signal, and output names the
// build, to repeat a run.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes of a program ended by a signal: 128 plus its number, as in a
// shell.
const (
	ExitInterrupted = 130 // SIGINT
	ExitTerminated  = 143 // SIGTERM
)

var (
	ErrInterrupted = fmt.Errorf("interrupted: %w", context.Canceled)
	ErrTerminated  = fmt.Errorf("terminated: %w", context.Canceled)
)

// Context returns a context that the first signal ends with one of the causes.
// The second signal kills the program.
func Context() context.Context {
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		received := <-signals
		signal.Stop(signals)
		if received == syscall.SIGTERM {
			end(ErrTerminated)
		} else {
			end(ErrInterrupted)
		}
	}()
	return ctx
}

// Exit returns the exit code of a program whose ctx ended. Other causes than
// signals count as interrupts.
func Exit(ctx context.Context) int {
	if context.Cause(ctx) == ErrTerminated {
		return ExitTerminated
	}
	return ExitInterrupted
}
