package history

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"handloom/internal/cli"
	"handloom/journal"
	"handloom/world"
)

// Main runs a command of the program's arguments on the folder of a journal, and exits. The
// commands copy a folder, list its ticks, find the first tick that fails a check, a test of
// it, the cause of a value, and differences between this build and the log or another build, and
// show the tables after each tick, also in a browser. The argument -h explains them. See guide/find-out-why.md.
//
// A program that also serves calls Main for arguments of its own.
func Main(g Game) { os.Exit(run(cli.Context(), g, os.Args[1:], os.Stdout, os.Stderr)) }

const (
	exitFound   = 1 // the check fails, the build differs
	exitRefused = 2 // wrong usage, or not possible
	exitDamaged = 11
	exitImpure  = 12
)

// A command is one call of the program.
type command struct {
	game   Game
	stdout io.Writer
}

//go:embed help/*.txt
var helpTexts embed.FS

func run(ctx context.Context, g Game, args []string, stdout, stderr io.Writer) (exit int) {
	c := &command{g, stdout}
	commands := map[string]func(context.Context, []string) (int, error){
		"copy": c.copy, "info": c.info, "first": c.first, "why": c.why, "check": c.check, "serve": c.serve,
		"digests": c.digests, "diff": c.diff, "show": c.show, "test": c.test,
	}
	// Without a known command, -h is the help of all commands.
	called, do := "history", c.unknown
	if len(args) > 0 {
		if known, ok := commands[args[0]]; ok {
			called, do, args = args[0], known, args[1:]
		}
	}
	exit, err := do(ctx, args)
	switch {
	case err == nil:
		return exit
	case errors.Is(err, flag.ErrHelp):
		text, _ := helpTexts.ReadFile("help/" + called + ".txt")
		_, _ = stdout.Write(text)
		return 0
	// An interrupt makes other calls fail, and their errors would hide it.
	case ctx.Err() != nil:
		err, exit = context.Cause(ctx), cli.Exit(ctx)
	default:
		exit = exitOf(err)
	}
	// One line for each error, so that scripts can read it.
	text := called + ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
	if errors.Is(err, world.ErrDiverged) {
		// A command begins at a snapshot of the build that wrote the log, so this may not be the first difference.
		text += "; digests of the build that wrote the log, digests of this build, and diff name the first one"
	}
	if errors.As(err, new(usageError)) {
		text += "; -h explains it"
	}
	fmt.Fprintln(stderr, text)
	return exit
}

func exitOf(err error) int {
	switch {
	case errors.Is(err, ErrImpure):
		return exitImpure
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, world.ErrCorrupt):
		return exitDamaged
	}
	return exitRefused
}

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (c *command) unknown(_ context.Context, args []string) (int, error) {
	if _, err := cli.ParseFlags(cli.NewFlags(), args); errors.Is(err, flag.ErrHelp) {
		return 0, err
	}
	const want = "want copy, info, first, why, check, digests, diff, show, test or serve"
	if len(args) == 0 {
		return 0, misused("got no command, %s", want)
	}
	return 0, misused("got command %q, %s", args[0], want)
}

// parse returns the words of a command line, as many as want names.
func parse(flags *flag.FlagSet, args []string, want ...string) ([]string, error) {
	words, err := cli.ParseFlags(flags, args)
	switch {
	case err != nil:
		return nil, usageError{err}
	case len(words) != len(want):
		return nil, misused("got %q, want %s", words, strings.Join(want, " and "))
	}
	return words, nil
}

// ticksFlags are the flags of a command that computes ticks.
type ticksFlags struct {
	from, to *uint64
	other    *bool
}

func newTicksFlags(flags *flag.FlagSet) ticksFlags {
	return ticksFlags{flags.Uint64("from", 0, ""), flags.Uint64("to", 0, ""), flags.Bool("any", false, "")}
}

func (f ticksFlags) limits(h *History) (from, to uint64) {
	return limits(h.Ranges(), *f.from, *f.to)
}

// limits replaces ticks that are 0 by the ends of a range: of the newest one that has tick from, else
// of the oldest one that has tick to, else of the newest one. Two ranges may have one tick in common.
func limits(ranges []Range, from, to uint64) (uint64, uint64) {
	var near Range
	for _, r := range slices.Backward(ranges) {
		has := func(tick uint64) bool { return r.First <= tick && tick <= r.Last }
		if near.Last == 0 || from > 0 && has(from) && !(near.First <= from && from <= near.Last) || from == 0 && to > 0 && has(to) {
			near = r
		}
	}
	return cmp.Or(from, near.First), cmp.Or(to, near.Last)
}

func (c *command) copy(ctx context.Context, args []string) (exit int, err error) {
	words, err := parse(cli.NewFlags(), args, "DIR", "TO")
	if err != nil {
		return 0, err
	}
	if err := journal.Copy(ctx, words[0], words[1]); err != nil {
		return 0, err
	}
	fmt.Fprintln(c.stdout, "copied to", words[1])
	return 0, nil
}

// with runs f with the History of a folder.
func (c *command) with(ctx context.Context, dir string, g Game, any bool, f func(h *History) (exit int, err error)) (exit int, err error) {
	h, err := Open(ctx, dir, g, Options{Any: any})
	if err != nil {
		return 0, err
	}
	exit, err = f(h)
	return exit, errors.Join(err, h.Close())
}
