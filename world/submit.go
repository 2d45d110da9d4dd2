package world

import (
	"context"
	"fmt"

	"handloom/internal/check"
	"handloom/store"
)

// Submit records commands as [store.Store.Submit] does, and returns after they are in the log
// and in the state: every later state contains them. The receipt has the handles of created
// items, and the tick.
//
// These errors mean that the call is never applied: [ErrNotLeader]; [store.ErrFull] if it does
// not fit a table; [store.ErrQueueFull]; [store.ErrPhase] inside a tick or Applied;
// [store.ErrClosed]; the error of fn; the cause of ctx, if it ended before a tick took the call.
// After [store.ErrUncertain] it may be applied: ctx ended, or the log failed, after a tick took
// it; a call that must not count twice needs a key in its commands. [ErrTick] means that its
// tick failed. It wraps that error, so test for ErrTick and ErrUncertain first. While the log
// refuses appends, the error of an ended ctx names the log's error, too.
func (w *World) Submit(ctx context.Context, fn func(q store.Queue) error) (*store.Receipt, error) {
	check.Given(ctx != nil, "world: Submit", "context")
	check.Given(fn != nil, "world: Submit", "function")
	if w.inside(ctx) {
		return nil, fmt.Errorf("world: Submit inside a tick or Applied: %w; record in a pass of the tick, or submit from another goroutine", store.ErrPhase)
	}
	if err := w.refusal(); err != nil {
		return nil, fmt.Errorf("world: Submit: %w; the call is not applied", err)
	}
	w.calls.Add(1)
	defer w.calls.Add(-1)
	r, err := w.exclusive.Submit(ctx, w.ticks, fn)
	if err == nil {
		return r, nil
	}
	if reason := w.appendErr(); reason != nil && (ctx.Err() != nil || w.ticks.Err() != nil) {
		err = fmt.Errorf("%w; the log: %w", err, reason)
	}
	return nil, err
}

type haltedError struct{ cause error }

func (e haltedError) Error() string { return fmt.Sprintf("this world has halted: %v", e.cause) }

// Unwrap returns [ErrNotLeader], not the cause, which belongs to another call.
func (haltedError) Unwrap() error { return ErrNotLeader }
