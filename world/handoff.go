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

// An offer is the last handoff of this World.
type offer struct {
	calls int       // of Handoff that wait for a successor
	until time.Time // of one that succeeded; on a log with a lock the World leads again after it
	next  *string   // version of the next term, if this World read its start
}

// handOff ends the term and waits for the successor. Without one, this World leads again.
func (w *World) handOff(ctx context.Context, to string) error {
	if w.isShared() {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, handoffTime(ctx))
		defer cancel()
	}
	w.noteOffer(func(o *offer) { o.calls++ })
	at, err := w.endTerm(ctx, to)
	if err == nil && w.isShared() {
		err = w.awaitSuccessor(ctx, at, to)
	}
	now := w.noteOffer(func(o *offer) {
		if o.calls--; err == nil {
			o.until = time.Now().Add(handoffTime(ctx))
		}
	})
	if err != nil && now.calls == 0 && w.life.Err() == nil && time.Until(now.until) <= 0 {
		err = w.takeBack(ctx, to, err)
	}
	return err
}

// endTerm appends the handoff and saves the state after it.
func (w *World) endTerm(ctx context.Context, to string) (at uint64, err error) {
	if err := w.lockRunning(ctx); err != nil {
		return 0, err
	}
	ended := make(chan saving, 1)
	err = within(ctx, func() error {
		defer w.unlock()
		if err := w.appendHandoff(ctx, to); err != nil {
			return err
		}
		s, err := saving{}, error(nil)
		switch {
		case !w.isShared():
			s, err = w.beginSave(ctx, w.save)
		case to != w.o.Version:
			s, err = w.beginSave(ctx, w.put)
		}
		s.at = w.at().at
		ended <- s
		return err
	})
	if err != nil {
		return 0, err
	}
	s := <-ended
	return s.at, s.wait(ctx)
}

// appendHandoff is called with the lock.
func (w *World) appendHandoff(ctx context.Context, to string) error {
	if w.pending != nil {
		if err := w.complete(ctx); err != nil {
			return err
		}
	}
	h := w.at()
	switch {
	case h.Handed && h.Leader == w.incarnation && h.To == to:
		return nil // by an earlier call
	case !w.isLeader():
		return w.refusal()
	}
	w.noteOffer(func(o *offer) { o.until, o.next = time.Time{}, nil })
	r := w.record(entry.KindHandoff, &h)
	r.To, r.Wait = to, int64(handoffTime(ctx))
	r.State = w.state(&h)
	w.pending = &pending{prev: h.at, bytes: r.Append(nil)}
	return w.complete(ctx)
}

// awaitSuccessor waits for the term after the handoff at position at.
func (w *World) awaitSuccessor(ctx context.Context, at uint64, to string) error {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		next := w.noteOffer(func(*offer) {}).next
		if next == nil {
			next = w.termAfter(ctx, at)
		}
		switch {
		case next != nil && *next == to:
			return nil
		case next != nil:
			return fmt.Errorf("got a term of version %q, want %q: %w", *next, to, ErrNotLeader)
		case sleep(ctx, pause) != nil:
			return fmt.Errorf("no world of version %q has taken over: %w", to, context.Cause(ctx))
		}
	}
}

// termAfter waits for the term after a handoff, and returns its version, or nil if reading
// fails.
func (w *World) termAfter(ctx context.Context, at uint64) (version *string) {
	err := w.log.Read(ctx, at, func(_ uint64, rec []byte) error {
		var r entry.Record
		if err := r.Decode(rec); err != nil {
			return err
		}
		version = &r.Start.Version
		return errEnds
	})
	if errors.Is(err, errEnds) || ctx.Err() != nil {
		return version
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

// takeBack starts a term after a handoff without a successor. cause is the reason.
func (w *World) takeBack(ctx context.Context, to string, cause error) error {
	h := w.at()
	if !w.hasHanded() {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err := w.becomeLeader(ctx, w.hasHanded) // else Run or Step does
	next := w.noteOffer(func(*offer) {}).next
	if next == nil && errors.Is(err, errFenced) {
		next = w.termAfter(ctx, h.at)
	}
	if next != nil && *next == to {
		return nil // in the last moment
	}
	return cause
}

// hasHanded reports whether the newest term ended with a handoff of this World.
func (w *World) hasHanded() bool {
	h := w.at()
	return h.Handed && h.Leader == w.incarnation
}

// noteSuccessor notes the version of the term r after a handoff of this World.
func (w *World) noteSuccessor(r *entry.Record, h *position) {
	if h.Handed && h.Leader == w.incarnation && r.Incarnation != w.incarnation {
		w.noteOffer(func(o *offer) { o.next = &r.Start.Version })
	}
}

func (w *World) noteOffer(change func(o *offer)) (now offer) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change(&w.offer)
	return w.offer
}

// offered returns the time until this World may lead after its own handoff.
func (w *World) offered() time.Duration {
	o := w.noteOffer(func(*offer) {})
	switch {
	case o.calls > 0:
		return minHandoffWait // then ask again
	case w.isShared():
		return 0
	}
	return time.Until(o.until)
}
