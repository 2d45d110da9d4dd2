package store

import (
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// Inbox takes commands from outside the passes: it calls fn with a queue, and one flush
// applies the commands of the call, all or none, after the commands of passes and of
// earlier calls. Calls are ordered by their return; this order is the only input to the
// program that does not follow from recorded commands. The first flush of a frame takes
// the calls that have returned when it begins, and the calls of failed flushes before it;
// later calls belong to the next frame.
//
// When the whole batch fits, no call is dropped. Otherwise the flush takes the commands
// of all passes and then adds the calls in order. It drops each call, as a whole, that
// does not fit MaxItems or the slots, claims a taken key of an [Index], or has a value on
// which Links or a key function panics. The decision depends only on the state and the
// batch. [Report].DroppedCalls counts dropped calls; their commands count as dropped, and
// the names of their creates are stale. The flush fails with [ErrFull] or [ErrDuplicate]
// only if the passes alone would.
//
// Any goroutine may call Inbox at any time, also while a phase is open; it does not wait.
// When fn returns an error or panics, nothing of the call is kept. Inbox fails with
// [ErrQueueFull], and keeps nothing, when the call exceeds the limits of a queue or the
// waiting calls exceed Options.InboxLimit; in a full inbox it does not call fn. On a
// closed store it fails with [ErrClosed], on a broken store with [ErrBroken].
// [Store.Submit] also returns the outcome of the call.
//
// Lookups inside fn need a phase.
func (s *Store) Inbox(fn func(q Queue) error) error {
	s.made("Inbox")
	check.Given(fn != nil, "store: Inbox", "function")
	failed, refused := arrive(s.batch, fn, nil)
	if refused != nil {
		return fmt.Errorf("store: Inbox: %w", refused)
	}
	return failed
}

// intake receives calls: the inbox, or the claim on it.
type intake interface {
	Enter() (batch.Queue, error)
	AddCall(q batch.Queue, call *batch.Call) error
	Leave(q batch.Queue)
}

// arrive records with fn and adds the commands to to, with call if a caller waits. It
// returns the error of fn, or the reason of a refusal.
func arrive(to intake, fn func(q Queue) error, call *batch.Call) (failed, refused error) {
	q, err := to.Enter()
	if err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept {
			to.Leave(q)
		}
	}()
	if err := fn(Queue(q)); err != nil {
		return err, nil
	}
	refused = to.AddCall(q, call) // Links may panic
	kept = true
	return nil, refused
}
