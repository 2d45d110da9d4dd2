package world

import (
	"context"
	"fmt"

	"handloom/internal/check"
	"handloom/store"
)

// Replay makes the state of s that of the log behind tick upTo, or behind the last one
// if there are fewer: the newest snapshot that is not behind upTo is loaded, and the
// ticks since are played, with Applied called for each, in a test or a debugger. It
// appends and saves nothing. Its errors are those of [Open]; an [ErrDiverged] or
// [ErrTick] says where it stopped.
func Replay(ctx context.Context, s *store.Store, l Log, o Options, upTo uint64) error {
	check.Given(ctx != nil, "world: Replay", "context")
	check.Given(s != nil, "world: Replay", "Store")
	check.Given(l != nil, "world: Replay", "Log")
	w, err := newWorld(ctx, s, l, o)
	if err != nil {
		return err
	}
	defer w.claim.Release()
	if err := w.recover(ctx, upTo); err != nil {
		return err
	}
	if t := w.now().Number; t > upTo {
		return fmt.Errorf("world: %w: no records lead to tick %d, and a snapshot to tick %d", ErrCorrupt, upTo, t)
	}
	return nil
}
