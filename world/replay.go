package world

import (
	"context"
	"fmt"

	"handloom/internal/check"
	"handloom/store"
)

// Replay restores in s the state after tick upTo, or after the last tick: it loads the newest
// snapshot at or before upTo and runs the later ticks, with Applied. It is for tests and
// debuggers, and writes nothing to the log. It returns the errors of [Open].
func Replay(ctx context.Context, s *store.Store, l Log, o Options, upTo uint64) error {
	check.Given(ctx != nil, "world: Replay", "context")
	check.Given(s != nil, "world: Replay", "Store")
	check.Given(l != nil, "world: Replay", "Log")
	o.Wait = false
	w, err := newWorld(ctx, s, l, o)
	if err != nil {
		return err
	}
	defer w.exclusive.Release()
	if err := w.recover(ctx, upTo); err != nil {
		return err
	}
	if t := w.now().Number; t > upTo {
		return fmt.Errorf("world: %w: no records of tick %d; the snapshot has tick %d", ErrCorrupt, upTo, t)
	}
	return nil
}
