package history

import (
	"context"
	"errors"
	"fmt"

	"handloom/internal/cli"
	"handloom/store"
	"handloom/world"
)

// first finds the first tick after which a check fails.
func (c *command) first(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	name, turn, ticks := flags.String("check", "", ""), flags.Bool("turn", false, ""), newTicksFlags(flags)
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	return c.with(ctx, words[0], c.game, *ticks.other, func(h *History) (exit int, err error) {
		find := h.First
		if *turn {
			find = h.Turn
		}
		from, to := ticks.limits(h)
		tick, failed, err := find(ctx, *name, from, to)
		switch {
		case err != nil:
			return 0, err
		case failed == nil && *turn:
			return c.verdict("holds", 0, "check %q after tick %d", *name, to)
		case failed == nil:
			return c.verdict("holds", 0, "check %q after every tick from %d to %d", *name, from, to)
		}
		if p, ok := errors.AsType[*store.PanicError](failed); ok {
			fmt.Fprintf(c.stdout, "%s\n", p.Stack)
		}
		return c.verdict("fails", exitFound, "check %q after tick %d: %v", *name, tick.Number, failed)
	})
}

// check compares this build with the digests in the records.
func (c *command) check(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	ticks := newTicksFlags(flags)
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	// A check that holds makes First play every tick. A Replayer compares the digests in the records
	// by itself, so a difference is the error of a tick.
	const digests = "digests"
	onlyPlay := Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		s, o, _, err := c.game.New(workers)
		return s, o, Checks{digests: func() error { return nil }}, err
	}}
	return c.with(ctx, words[0], onlyPlay, *ticks.other, func(h *History) (exit int, err error) {
		from, to := ticks.limits(h)
		_, _, err = h.first(ctx, digests, from, to, true)
		if d, ok := errors.AsType[*world.DivergedError](err); ok {
			return c.verdict("differs", exitFound, "at the latest after tick %d: %s", d.Tick, d.Place)
		}
		if err != nil {
			return 0, err
		}
		return c.verdict("equal", 0, "all digests of ticks %d to %d", from, to)
	})
}

func (c *command) verdict(name string, exit int, format string, args ...any) (int, error) {
	fmt.Fprintln(c.stdout, cli.NewVerdict(name, exit, fmt.Sprintf(format, args...)))
	return exit, nil
}
