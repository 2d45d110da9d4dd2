package world

import (
	"context"
	"errors"
	"fmt"
	"math"

	"handloom/internal/check"
	"handloom/store"
)

// Submit takes commands from outside, as [store.Store.Submit] does, and returns when
// they are in the log and in the state: whatever dies afterwards, they are in every
// later state. The receipt knows the handles of what the call created, and the tick.
//
// Errors are of three kinds. Not applied, and never will be: [ErrNotLeader],
// [store.ErrFull] when the call does not fit a table (it is dropped alone, on every World
// alike; see [store.Store.Inbox]), [store.ErrQueueFull], [store.ErrPhase] inside a tick or Applied, [store.ErrClosed],
// that of fn. [store.ErrUncertain]: ctx ended while the call waited, or the log broke
// with it; it may be applied, and a call that must not count twice has a key of the
// program's own in its commands. [ErrTick]: the tick that the call is of failed; the
// error of that is wrapped as well, so look for ErrTick and ErrUncertain first.
func (w *World) Submit(ctx context.Context, fn func(q store.Queue) error) (*store.Receipt, error) {
	check.Given(ctx != nil, "world: Submit", "context")
	check.Given(fn != nil, "world: Submit", "function")
	if w.inside(ctx) {
		return nil, fmt.Errorf("world: Submit inside a tick or Applied: %w", store.ErrPhase)
	}
	if err := w.refusal(); err != nil {
		return nil, fmt.Errorf("world: Submit: %w; nothing of the call is applied", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ticks, func() { cancel(context.Cause(w.ticks)) })()
	r, err := w.claim.Submit(ctx, fn)
	if reason := w.appendErr(); reason != nil && errors.Is(err, store.ErrUncertain) {
		err = fmt.Errorf("%w; the log: %w", err, reason)
	}
	return r, err
}

// haltedError is what calls of a World that has halted return: ErrNotLeader, with another
// text, because no other world need own the log.
type haltedError struct{ cause error }

func (e haltedError) Error() string { return fmt.Sprintf("this world has halted: %v", e.cause) }

// Unwrap returns [ErrNotLeader]. The cause is that of another call.
func (haltedError) Unwrap() error { return ErrNotLeader }

// refusal says why calls are not taken, or nil.
func (w *World) refusal() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch {
	case errors.Is(w.halted, store.ErrClosed), w.life.Err() != nil:
		return store.ErrClosed
	case w.leads:
		return nil
	case w.halted != nil:
		return haltedError{w.halted}
	}
	return ErrNotLeader
}

// drain refuses all calls that wait, unless the World takes some.
func (w *World) drain() {
	err := w.refusal()
	if err == nil {
		return
	}
	_, calls := w.claim.Seal(nil, math.MaxInt)
	calls.Done(0, err)
}
