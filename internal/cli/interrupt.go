// Package cli holds the conventions of the command-line programs: signals end a run
// early and in order, exit codes name them, and output names the build, so that a run
// can be repeated. Progress, files and flags work alike in all of them.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes of a program that a signal ended: 128 and the number of the signal,
// as a shell has it.
const (
	ExitInterrupted = 130 // SIGINT
	ExitTerminated  = 143 // SIGTERM
)

// Causes of the end of a [Context].
var (
	ErrInterrupted = fmt.Errorf("interrupted: %w", context.Canceled)
	ErrTerminated  = fmt.Errorf("terminated: %w", context.Canceled)
)

// Context returns a context that ends with one of the causes at the first signal.
// The second kills the program at once. It is to be called once, by main.
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

// Exit returns the exit code of a program that stopped because ctx ended. What
// ended without a signal counts as interrupted.
func Exit(ctx context.Context) int {
	if context.Cause(ctx) == ErrTerminated {
		return ExitTerminated
	}
	return ExitInterrupted
}
