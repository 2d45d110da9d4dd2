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
		next := uint64(0)
		for i, r := range h.Ranges() {
			if next < r.First {
				fmt.Fprintf(c.stdout, "ticks %d to %d: not kept\n", next, r.First-1)
			}
			c.writeRange(h, i, r)
			next = r.Last + 1
		}
		return c.playNewest(ctx, h)
	})
}

// describe returns a range in words.
func (h *History) describe(i int) string {
	r := &h.spans[i].Range
	text := fmt.Sprintf("ticks %d to %d: version %q", r.First, r.Last, r.Version)
	if !h.plays(&h.spans[i]) {
		text += fmt.Sprintf(", not %q: needs -any", h.version)
	}
	return text
}

func (c *command) writeRange(h *History, i int, r Range) {
	fmt.Fprintln(c.stdout, h.describe(i))
	for _, tick := range r.Terms {
		fmt.Fprintf(c.stdout, "  after tick %d: another leader\n", tick)
	}
	for _, tick := range r.Skipped {
		fmt.Fprintf(c.stdout, "  tick %d: without its input\n", tick)
	}
	if r.Err != nil {
		fmt.Fprintf(c.stdout, "  end: %v\n", r.Err)
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
