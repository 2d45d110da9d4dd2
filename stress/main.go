package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"handloom/internal/cli"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/kills"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == childCommand {
		campaign.ServeChild(os.Stdin, os.Stdout)
	}
	if len(os.Args) > 1 && os.Args[1] == kills.ChildCommand {
		os.Exit(kills.Child(os.Args[2:], os.Stdin, os.Stdout))
	}
	os.Exit(run(cli.Context(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// childCommand is what the program starts itself with, to play programs.
const childCommand = "child"

// Exit codes; those of package campaign are others.
const (
	exitVerified    = 0
	exitBad         = 2 // usage, malformed input, a file that cannot be read or written
	exitMismatch    = campaign.ExitModel
	exitInterrupted = campaign.ExitInterrupted
)

// bySignal returns the exit code of a run: where it was cut short, that of the
// signal that ended ctx.
func bySignal(ctx context.Context, exit int) int {
	if exit == exitInterrupted {
		return cli.Exit(ctx)
	}
	return exit
}

// run is the program: it returns the exit code, and leaves no goroutine behind.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &command{stdin: stdin, stdout: stdout, stderr: stderr, smokes: true}
	return p.run(ctx, args)
}

// command is one run and what it talks to.
type command struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	fault          fault
	smokes         bool // the replay of the embedded trace is followed by a smoke run
}

func (p *command) run(ctx context.Context, args []string) int {
	p.args = args
	command := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	if command == "" && wantsDurable(args) {
		return p.durable(ctx, args)
	}
	if command == "" && wantsHarness(args) {
		return p.harness(ctx, args)
	}
	switch command {
	case "":
		return p.smoke(ctx, p.replay(ctx, command, args))
	case "replay":
		return p.replay(ctx, command, args)
	case "inspect":
		return p.inspect(args)
	case "help":
		return p.help(args)
	}
	return p.misused("", fmt.Errorf("unknown command %q; want replay, inspect or help", command))
}

// bad prints the one line that exit code 2 comes with.
func (p *command) bad(err error) int {
	fmt.Fprintln(p.stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
	return exitBad
}

// failed is bad for what a command could not do.
func (p *command) failed(command string, err error) int {
	return p.bad(fmt.Errorf("%s: %w", called(command), err))
}

// misused is bad for a command line that cannot be followed.
func (p *command) misused(command string, err error) int {
	return p.bad(fmt.Errorf("%s: %w; see: go run ./%s -h", called(command), err, called(command)))
}

// called is what a user called the program by.
func called(command string) string { return strings.TrimSpace("stress " + command) }
