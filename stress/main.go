package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/proof/runner"
)

func main() {
	// Most of the memory is garbage after a program; the limit is for large ones.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(1 << 30)
	os.Exit(run(cli.Context(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const (
	exitPassed       = 0
	exitInconclusive = 1
	exitBad          = 2 // usage, malformed input, unreadable or unwritable file
	exitFaultMissed  = 20
	exitNeverSeen    = 21
	exitInterrupted  = cli.ExitInterrupted
)

var exitCodes = map[runner.Kind]int{
	runner.Model: 10, runner.Invariant: 11, runner.Determinism: 12, runner.Liveness: 14,
	runner.Leak: 15, runner.Limit: 16, runner.Forged: 17,
}

// run runs the program and returns the exit code. It leaves no goroutine
// running, unless a program hangs.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&command{stdin: stdin, stdout: stdout, stderr: stderr, patience: 2 * time.Minute}).run(ctx, args)
}

type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	progress       *cli.Progress
	patience       time.Duration // limit after which a random program hangs
}

func (p *command) run(ctx context.Context, args []string) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp) && o.harness:
		return p.help("profile")
	case errors.Is(err, flag.ErrHelp):
		return p.help(o.command)
	case err != nil:
		return p.bad(fmt.Errorf("%s: %w; see: go run ./%s -h", o.called(), err, o.called()))
	}
	switch {
	case o.command == "help":
		return p.help(o.words...)
	case o.canary != "":
		return p.seededFaults(ctx, o)
	case o.program != "":
		return p.playProgram(ctx, o)
	case o.harness:
		return p.campaign(ctx, o)
	}
	return p.replay(ctx, o)
}

// begin prints what runs and the command that repeats it.
func (p *command) begin(title, again string) {
	fmt.Fprintf(p.stdout, "%s\n%s, %s %s/%s, GOMAXPROCS %d\n", again, title, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	p.progress = cli.NewProgress(p.stderr, time.Now)
}

func (p *command) notify(format string, args ...any) {
	p.progress.Show(func(time.Duration) string { return fmt.Sprintf(format, args...) })
}

// end prints the verdict, which is the last line, and returns its exit code.
func (p *command) end(ctx context.Context, name string, exit int, reason string) int {
	if exit == exitInterrupted {
		exit = cli.Exit(ctx)
	}
	p.progress.Clear()
	fmt.Fprintln(p.stdout, cli.NewVerdict(name, exit, firstLine(reason)))
	return exit
}

func (p *command) bad(err error) int {
	fmt.Fprintln(p.stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
	return exitBad
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
