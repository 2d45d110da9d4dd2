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
	signal.Ignore(syscall.SIGPIPE) // a write says so instead, see run
	os.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes; package cli has the codes of a run that a signal ended.
const (
	exitDone = 0
	exitBad  = 2 // usage, malformed input, a file that cannot be read or written
)

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p := &command{args: args, stdout: stdout, stderr: stderr}
	code, err := p.run(ctx)
	if errors.Is(err, syscall.EPIPE) {
		return exitDone // whoever reads the output has read enough
	}
	if err != nil {
		// One line, whatever the error.
		fmt.Fprintln(stderr, "bench:", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitBad
	}
	return code
}
