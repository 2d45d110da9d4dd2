package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/check"
	"handloom/internal/entry"
)

const (
	defaultHandoff = 30 * time.Second // for a context without a deadline
	maxHandoff     = 10 * time.Minute
)

// Handoff gives the log to version to: it saves a snapshot, ends the term, and returns nil once
// a World of that version leads. The package comment has a table of the outcomes. From the end
// of the term on, Submit returns [ErrNotLeader].
//
// If nobody has taken over when ctx ends, 30 s after the term if ctx has no deadline, or after 10
// minutes, this World leads again, and Handoff returns the cause; an append may still finish. If
// no snapshot can be saved, the term of a shared log does not end. On a log with a lock it ends
// before the save, and this World leads again in a new term. On a shared log a handoff to the
// World's own version changes the leader and saves nothing.
//
// On a log with a lock nobody can take over before World and log are closed. End Run first; then
// call Handoff, which returns once the snapshot is saved; then Close.
func (w *World) Handoff(ctx context.Context, to string) error {
	check.Given(ctx != nil, "world: Handoff", "context")
	if err := w.outside(ctx, "Handoff"); err != nil {
		return err
	}
	if len(to) > maxName {
		return fmt.Errorf("world: Handoff: version of %d bytes, want at most %d", len(to), maxName)
	}
	ctx, cancel := w.untilClosed(ctx) // a log that does not answer must not block Close
	defer cancel()
	err := w.saveAside(ctx, to)
	if err == nil {
		err = w.handOff(ctx, to)
	}
	if err == nil {
		return nil
	}
	if reason := w.appendErr(); reason != nil && errors.Is(err, errUnfinished) {
		err = fmt.Errorf("%w; the log: %w", err, reason)
	}
	return fmt.Errorf("world: Handoff: %w", err)
}

func (w *World) isShared() bool { return w.log.ElectionTimeout() > 0 }

// handoffTime returns the time that a handoff leaves to its successor.
func handoffTime(ctx context.Context) time.Duration {
	deadline, has := ctx.Deadline()
	if !has {
		return defaultHandoff
	}
	return min(time.Until(deadline), maxHandoff)
}

// handOff ends the term and waits for the successor. Without one, this World leads again.
func (w *World) handOff(ctx context.Context, to string) error {
	call, cancel := context.WithCancel(ctx)
	if w.isShared() {
		call, cancel = context.WithTimeout(ctx, handoffTime(ctx))
	}
	defer cancel()
	o, err := w.endTerm(call, to)
	switch {
	case o == nil:
		return err
	case err == nil && w.isShared():
		err = w.awaitSuccessor(call, o.at, to)
	case err == nil:
		w.mutex.Lock()
		defer w.mutex.Unlock()
		o.until = time.Now().Add(handoffTime(ctx))
		return nil
	}
	cancel() // it no longer waits
	if err != nil && w.life.Err() == nil {
		err = w.takeBack(ctx, o.at, to, err)
	}
	return err
}

// endTerm appends the handoff and saves the state after it. It returns nil before the offer begins.
func (w *World) endTerm(ctx context.Context, to string) (o *offer, err error) {
	if err := w.lockRunning(ctx); err != nil {
		return nil, err
	}
	var j *job
	err = within(ctx, func() error {
		defer w.unlock()
		err := w.appendHandoff(ctx, to)
		if err != nil {
			return err
		}
		o = w.role.(*offer)
		switch {
		case !w.isShared():
			j, err = w.saveAfter(ctx, w.save)
		case to != w.o.Version:
			j, err = w.saveAfter(ctx, w.put)
		}
		return err
	})
	switch {
	case errors.Is(err, errUnfinished):
		return nil, err // Run or Step takes the log back
	case err != nil:
		return o, err
	}
	return o, j.wait(ctx)
}

// appendHandoff is called with the lock.
func (w *World) appendHandoff(ctx context.Context, to string) error {
	if w.pending() != nil {
		if err := w.complete(ctx); err != nil {
			return err
		}
	}
	h := w.at()
	if l, leads := w.role.(*leader); leads {
		r := w.record(entry.KindHandoff, &h)
		r.To, r.Wait = to, int64(handoffTime(ctx))
		r.State = w.state(&h)
		l.pending = &pending{prev: h.at, bytes: r.Append(nil)}
		if err := w.complete(ctx); err != nil {
			return err
		}
	}
	o, offers := w.role.(*offer)
	if !offers || w.at().To != to { // an earlier call has another version
		return w.refusal()
	}
	o.calls = append(o.calls, ctx)
	return nil
}

// awaitSuccessor waits for the term after the handoff at position at.
func (w *World) awaitSuccessor(ctx context.Context, at uint64, to string) error {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		switch next := w.termAfter(ctx, at); {
		case next != nil && *next == to:
			return nil
		case next != nil:
			return fmt.Errorf("got a term of version %q, want %q: %w", *next, to, ErrNotLeader)
		case sleep(ctx, pause) != nil:
			return fmt.Errorf("no world of version %q has taken over: %w", to, context.Cause(ctx))
		}
	}
}

// termAfter waits for another's term after a handoff, and returns its version, or nil if reading
// fails.
func (w *World) termAfter(ctx context.Context, at uint64) (version *string) {
	var r entry.Record
	_, rec, err := recordAfter(ctx, w.log, at)
	switch {
	case err == nil && r.Decode(rec) == nil && r.Incarnation != w.incarnation:
		return &r.Start.Version
	case err == nil, ctx.Err() != nil:
		return nil
	}
	saved, err := w.log.Snapshots(ctx) // the record may be trimmed
	if err != nil || len(saved) == 0 || saved[0] <= at {
		return nil
	}
	t, err := w.inspectSnapshot(ctx, saved[0])
	if err != nil {
		return nil
	}
	return &t.Start.Version
}

// takeBack starts a term after a handoff at position at without a successor. cause is the reason.
func (w *World) takeBack(ctx context.Context, at uint64, to string, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if w.is(offering) {
		_, _, _ = w.becomeLeader(ctx) // else Run or Step does
	}
	if w.is(starting) || w.is(leading) {
		return cause
	}
	if next := w.termAfter(ctx, at); next != nil && *next == to {
		return nil // in the last moment
	}
	return cause
}

// offered returns the time until this World may lead after its own handoff. The caller has the lock.
func (w *World) offered(o *offer) time.Duration {
	for _, call := range o.calls {
		if call.Err() == nil {
			return minHandoffWait // then ask again
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return time.Until(o.until)
}
