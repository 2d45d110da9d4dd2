package history

import (
	"context"
	"errors"
	"fmt"

	"handloom/internal/cli"
	"handloom/store"
	"handloom/world"
)

// why finds the cause of a value.
func (c *command) why(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	tick, item, field := flags.Uint64("tick", 0, ""), flags.String("item", "", ""), flags.String("field", "", "")
	other := flags.Bool("any", false, "")
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	id, err := store.ParseID(*item)
	if err != nil {
		return 0, misused("-item: got %q, want a handle such as 3:17.2", *item)
	}
	if *tick == 0 {
		return 0, misused("-tick: got none, want a tick; first finds one")
	}
	return c.with(ctx, words[0], c.game, *other, func(h *History) (exit int, err error) {
		change, err := h.Why(ctx, id, *field, *tick)
		// The world of another build may have changed the field at another tick, or never.
		differs := h.confirm(ctx, *tick)
		if err != nil && errors.Is(differs, world.ErrDiverged) {
			err = differs
		}
		if err != nil {
			return 0, err
		}
		// Why returns the last change. An item may change several times in one tick, and the first
		// of the changes may be the wrong one.
		all, err := h.Changes(ctx, id, *field, change.Tick, change.Tick)
		if err != nil {
			return 0, err
		}
		for i := range all {
			c.writeChange(&all[i])
		}
		differs = errors.Join(differs, h.confirm(ctx, change.Tick))
		// Not an error: after diff, one asks the build that did not write the log, too.
		if errors.Is(differs, world.ErrDiverged) {
			fmt.Fprintln(c.stdout, "  limits: this build differs from the log, whose world may have had other values")
			return 0, nil
		}
		return 0, differs
	})
}

// writeChange prints a change, its cause, and the limits of the answer.
func (c *command) writeChange(change *Change) {
	fmt.Fprintln(c.stdout, change)
	for _, lost := range change.By.Lost {
		fmt.Fprintln(c.stdout, "  without effect:", lost)
	}
	if change.By.Kind == "in place" {
		fmt.Fprintln(c.stdout, "  limits: the line begins the pass; several writes between two boundaries are one change")
	}
}
