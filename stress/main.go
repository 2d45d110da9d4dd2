package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"handloom/internal/cli"
	"handloom/stress/internal/campaign"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == childCommand {
		campaign.ServeChild(os.Stdin, os.Stdout)
	}
	os.Exit(run(cli.Context(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// childCommand is the first argument of children that play programs.
const childCommand = "child"

// Package campaign has more exit codes.
const (
	exitVerified    = 0
	exitBad         = 2 // usage, malformed input, unreadable or unwritable file
	exitMismatch    = campaign.ExitModel
	exitInterrupted = campaign.ExitInterrupted
)

func bySignal(ctx context.Context, exit int) int {
	if exit == exitInterrupted {
		return cli.Exit(ctx)
	}
	return exit
}

// run runs the program and returns the exit code. It leaves no goroutine
// running.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &command{stdin: stdin, stdout: stdout, stderr: stderr, smokes: true}
	return p.run(ctx, args)
}

type command struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	fault          fault
	smokes         bool // a smoke run follows the embedded trace
}

func (p *command) run(ctx context.Context, args []string) int {
	p.args = args
	command := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	if command == "" && wantsHarness(args) {
		return p.harness(ctx, args)
	}
	switch command {
	case "":
		return p.smoke(ctx, p.replay(ctx, command, args))
	case "replay":
		return p.replay(ctx, command, args)
	case "help":
		return p.help(args)
	}
	return p.misused("", fmt.Errorf("unknown command %q; want replay or help", command))
}

func (p *command) bad(err error) int {
	fmt.Fprintln(p.stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
	return exitBad
}

func (p *command) failed(command string, err error) int {
	return p.bad(fmt.Errorf("%s: %w", called(command), err))
}

func (p *command) misused(command string, err error) int {
	return p.bad(fmt.Errorf("%s: %w; see: go run ./%s -h", called(command), err, called(command)))
}

func called(command string) string { return strings.TrimSpace("stress " + command) }
