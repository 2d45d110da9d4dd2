package store

import (
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// Inbox takes commands from outside of the passes: it calls fn with a queue and
// what fn records is applied by one flush, whole or not at all, after the
// commands of all passes and of calls that returned before. The first flush of a
// frame takes the calls that have returned when it begins, and those of a flush
// that failed before them; what is recorded later belongs to the next frame, so
// that which of its flushes applies a call does not depend on when it came. The
// order in which calls return is input to the program: it is the one thing that
// decides an outcome and is no function of what was recorded.
//
// A call that does not fit MaxItems or the slots of a table fails alone. When the whole
// batch fits, nothing is dropped. Otherwise the flush takes the commands of all passes and
// adds the calls one after another, in their order: a call that does not fit with those
// before it is dropped whole. So is a call that claims a key of an [Index] which is taken, or
// with a value on which Links or a key function panics. The decision depends on the state
// and the batch alone. [Report].DroppedCalls is the number
// of dropped calls, and each of their commands counts as dropped; names of their creates
// are stale. The flush fails with [ErrFull] or [ErrDuplicate] only if it would with the
// passes alone.
//
// Inbox may be called from any goroutine at any time (a network reader, say),
// also while a phase is open, and waits for nothing. When fn returns an error or
// panics nothing of the call is kept. Inbox fails with [ErrQueueFull], and then
// nothing of the call is kept either, when the call exceeds the limits of a
// queue, or the calls that wait for a flush exceed Options.InboxLimit; fn is not
// called when they have reached it. On a closed store it is [ErrClosed], on a broken one
// [ErrBroken]. Who has to know what became of the call uses [Store.Submit].
//
// Looking things up inside fn takes a phase as anywhere else.
func (s *Store) Inbox(fn func(q Queue) error) error {
	s.made("Inbox")
	check.Given(fn != nil, "store: Inbox", "function")
	failed, refused := arrive(s.batch, fn, nil)
	if refused != nil {
		return fmt.Errorf("store: Inbox: %w", refused)
	}
	return failed
}

// intake is where calls arrive: the inbox, or who has claimed it.
type intake interface {
	Enter() (batch.Queue, error)
	AddCall(q batch.Queue, call *batch.Call) error
	Leave(q batch.Queue)
}

// arrive records with fn and leaves that at to, for call if somebody waits for it. It
// returns the error of fn, or why it was not taken.
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
	refused = to.AddCall(q, call) // a Links of the caller may panic
	kept = true
	return nil, refused
}
