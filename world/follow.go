package world

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var errElectionTimeout = errors.New("no record within the election timeout")

// follow waits for the end of Options.Wait, applies records until enough returns true, or begins a
// term. The caller repeats it.
func (w *World) follow(ctx context.Context, enough func() bool) error {
	if w.is(waiting) {
		return w.await(ctx)
	}
	if err := w.undoIdle(ctx); errors.Is(err, errOpen) {
		_ = sleep(ctx, maxPoll)
		return nil
	} else if err != nil {
		return err
	}
	left, at, err := w.becomeLeader(ctx)
	if err != nil || left <= 0 {
		return err
	}
	return w.listen(ctx, at, left, enough)
}

// listen applies records after a position until enough returns true, or until none arrives for
// wait. It ends if a Handoff has applied a record meanwhile, which may have made this World the
// leader.
func (w *World) listen(ctx context.Context, from uint64, wait time.Duration, enough func() bool) error {
	listening, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(wait, func() { cancel(errElectionTimeout) })
	defer timer.Stop()
	err := w.log.Read(listening, from, func(at uint64, rec []byte) error {
		timer.Stop()
		wait, err := w.applyNext(listening, at, rec)
		if err != nil {
			return err
		}
		if enough() || w.at().Handed {
			return errEnds
		}
		timer.Reset(wait)
		return nil
	})
	if errors.Is(err, errEnds) || errors.Is(err, errWaits) || context.Cause(listening) == errElectionTimeout {
		return nil
	}
	if err := w.lockRunning(ctx); err != nil {
		return err
	}
	defer w.unlock()
	return w.loadNewer(ctx, err)
}

// applyNext returns the election timeout after the record.
func (w *World) applyNext(ctx context.Context, at uint64, rec []byte) (wait time.Duration, err error) {
	if err := w.lockRunning(ctx); err != nil {
		return 0, err
	}
	defer w.unlock()
	if at <= w.at().at || w.is(waiting) || w.pending() != nil {
		return 0, errEnds // a Handoff has appended or applied it
	}
	// A call that began while this World led may have been recorded after the change of role.
	defer w.drain()
	err = w.apply(ctx, at, rec, origin{})
	return w.wait, err
}

// loadNewer loads a newer snapshot, because the records may be trimmed. cause is the error of
// Log.Read.
func (w *World) loadNewer(ctx context.Context, cause error) error {
	if err := w.stopped(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	from := w.at().at
	found, err := w.load(ctx, func(h position) bool { return h.at > from })
	if err == nil && !found {
		err = fmt.Errorf("world: after record %d: %w", from, cause)
	}
	switch {
	case err == nil || errors.Is(err, context.Cause(ctx)):
		return err
	case w.mayWait(err):
		return w.waitAfter(from)
	}
	return w.halt(err)
}
