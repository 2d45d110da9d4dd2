package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt kills at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitDone        = 0
	exitBad         = 2 // usage, malformed input, a file that cannot be read or written
	exitRegression  = 3
	exitInterrupted = 130
)

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p := &program{args: args, stdout: stdout, stderr: stderr}
	code, err := p.run(ctx)
	if err != nil {
		// One line, whatever the error.
		fmt.Fprintln(stderr, "bench:", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitBad
	}
	return code
}
