package world

import (
	"context"
	"fmt"
	"io"

	"handloom/internal/check"
	"handloom/store"
)

// Replay restores in s the state after tick upTo, or after the last tick: it loads the newest
// snapshot at or before upTo and runs the later ticks, with Applied. It is for tests and
// debuggers, and writes nothing to the log. It returns the errors of [Open]. A [Replayer] stops at
// each tick.
func Replay(ctx context.Context, s *store.Store, l Log, o Options, upTo uint64) error {
	check.Given(ctx != nil, "world: Replay", "context")
	check.Given(s != nil, "world: Replay", "Store")
	check.Given(l != nil, "world: Replay", "Log")
	r, err := newReplayer(ctx, s, l, o)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := r.start(ctx, func(h position) bool { return h.tick <= upTo }); err != nil {
		return err
	}
	for r.world.now().Number < upTo {
		err := r.next(ctx)
		if err == io.EOF {
			break
		}
		if err == nil {
			continue
		}
		if err := r.world.loadNewer(ctx, err); err != nil {
			return err
		}
	}
	if t := r.world.now().Number; t > upTo {
		return fmt.Errorf("world: %w: no records of tick %d; the snapshot has tick %d", ErrCorrupt, upTo, t)
	}
	return nil
}
