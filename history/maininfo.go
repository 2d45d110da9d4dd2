package history

import (
	"context"
	"errors"
	"fmt"

	"handloom/internal/cli"
	"handloom/world"
)

// info lists the ranges and plays the newest ticks, to see whether they fail.
func (c *command) info(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	other := flags.Bool("any", false, "")
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	return c.with(ctx, words[0], c.game, *other, func(h *History) (exit int, err error) {
		// Tick 0 is the first one of each log, so ticks before the first range were dropped.
		next := uint64(0)
		for i := range h.spans {
			sp := &h.spans[i]
			if next < sp.First {
				fmt.Fprintf(c.stdout, "ticks %d to %d: not kept\n", next, sp.First-1)
			}
			c.writeSpan(h, sp)
			next = sp.Last + 1
		}
		return c.playNewest(ctx, h)
	})
}

// describe returns a range in words.
func (h *History) describe(sp *span) string {
	text := fmt.Sprintf("ticks %d to %d: version %q", sp.First, sp.Last, sp.Version)
	if !h.plays(sp) {
		text += fmt.Sprintf(", not %q: needs -any", h.version)
	}
	return text
}

func (c *command) writeSpan(h *History, sp *span) {
	fmt.Fprintln(c.stdout, h.describe(sp))
	for _, tick := range sp.terms {
		fmt.Fprintf(c.stdout, "  after tick %d: another leader\n", tick)
	}
	for _, tick := range sp.skipped {
		fmt.Fprintf(c.stdout, "  tick %d: without its input\n", tick)
	}
	if sp.Err != nil {
		fmt.Fprintf(c.stdout, "  end: %v\n", sp.Err)
	}
}

// playNewest shows the failure of the newest tick: a world that fails writes no later record.
func (c *command) playNewest(ctx context.Context, h *History) (exit int, err error) {
	newest := len(h.spans) - 1
	if newest < 0 || !h.plays(&h.spans[newest]) {
		return 0, nil
	}
	_, _, err = h.Seek(ctx, h.spans[newest].Last)
	if failed, ok := errors.AsType[*world.TickError](err); ok {
		fmt.Fprintf(c.stdout, "  tick %d: fails: %v\n", failed.Tick, failed.Err)
		return 0, nil
	}
	return 0, err
}
