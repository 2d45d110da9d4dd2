package cells

import (
	"context"
	"errors"
	"math"

	"handloom/internal/entrance"
)

// A trial finds the message that fails a tick. It runs the tick again with fewer messages, by
// halves, until the tick fails with one message more and not without it. The last run receives
// the messages before that message and counts a failure of it. If the tick fails without any
// message, the messages are not the reason, and the tick fails.
//
// Each node runs the same trial, because the outcome of a run is a function of state and input.
type trial struct {
	redo     *entrance.Redo // of the tick
	limit    int            // of the messages that this run receives
	received int            // by this run
	lo, hi   int            // the tick succeeds with lo messages, or lo is 0, and fails with hi
	err      error
	searches bool // a run may be repeated although it succeeds
	passed   bool // this run has succeeded
	last     bool // this run receives lo messages; it, or an earlier run, ends the trial
}

// errRepeat is the error of a run that succeeds and is not the last one.
var errRepeat = errors.New("cells: a trial of fewer messages")

// begin begins a run. It costs a copy of the state in the first run of a tick that receives
// messages, also through another outbox of the store, whose tick may be inside this one.
func (t *trial) begin(ctx context.Context, on bool) {
	redo := entrance.RedoOf(ctx)
	if redo == nil || redo != t.redo {
		*t = trial{redo: redo, limit: math.MaxInt}
	}
	t.received, t.passed = 0, false
	if on && redo != nil && redo.HasInput(isArrived) && redo.Save(ctx) {
		redo.OnError(t.failed)
	}
}

// take reports whether the run receives one message more.
func (t *trial) take() bool {
	if t.received >= t.limit {
		return false
	}
	t.received++
	return true
}

// blame reports once, in the last run, that the next message fails the tick.
func (t *trial) blame() bool {
	is := t.searches && t.last
	t.searches = t.searches && !is
	return is
}

// end returns an error if the tick runs again.
func (t *trial) end() error {
	if t.passed = t.searches && !t.last; t.passed {
		return errRepeat
	}
	return nil
}

// failed reports whether the tick runs again.
func (t *trial) failed(err error) bool {
	switch {
	case t.last, errors.Is(err, errRepeat) && !t.passed: // or the trial of another outbox
		return false
	case t.passed:
		t.lo = t.limit
	default:
		t.hi, t.err = t.received, err
	}
	t.searches, t.last = t.hi > 0, t.hi <= t.lo+1
	t.limit = t.lo
	if !t.last {
		t.limit = (t.lo + t.hi) / 2
	}
	return t.searches
}
