package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"handloom/internal/cli"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write returns the error instead, see run
	os.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr))
}

// Package cli has the exit codes of signals.
const (
	exitDone = 0
	exitBad  = 2 // usage, malformed input, unreadable or unwritable file
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p := &command{args: args, stdout: stdout, stderr: stderr}
	code, err := p.run(ctx)
	if errors.Is(err, syscall.EPIPE) {
		return exitDone
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitBad
	}
	return code
}
