package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"handloom/internal/entry"
)

var (
	// errOther is ErrVersion for another Options.Version.
	errOther = fmt.Errorf("%w", ErrVersion)

	errWaiting = fmt.Errorf("%w: this world waits for a handoff to its version", ErrNotLeader)
	errWaits   = fmt.Errorf("%w: it waits", errFenced)
)

// waitAfter makes the World wait, because the record at position after, or a later one, is of
// another version. The state stays as it is.
func (w *World) waitAfter(after uint64) error {
	w.change(event{kind: otherRead, role: &waiter{watched: after}})
	return errWaits
}

// mayWait reports whether a World waits after err.
func (w *World) mayWait(err error) bool { return w.o.Wait && w.isShared() && errors.Is(err, errOther) }

// await waits until the log has a term of this version, or a handoff to it, and loads its newest
// snapshot.
func (w *World) await(ctx context.Context) error {
	w.mutex.Lock()
	r, waits := w.role.(*waiter)
	w.mutex.Unlock()
	if !waits {
		return nil
	}
	from, err := w.watch(ctx, r)
	if err != nil {
		return err
	}
	for pause := firstRetry; ; pause *= 2 {
		w.drain() // calls of Submit that began before the wait
		there, err := w.enter(ctx, from)
		if errors.Is(err, errOther) || err == nil && !w.is(waiting) {
			return nil
		}
		if err != nil {
			return err
		}
		// The handoff may be over before its snapshot is saved.
		if tail, err := w.log.Tail(ctx); err == nil && tail > r.watched {
			return nil
		}
		if pause = min(pause, maxPoll); there {
			pause = lastRetry // it cannot be read
		}
		if sleep(ctx, pause) != nil {
			return context.Cause(ctx)
		}
	}
}

// maxPoll limits the time between two looks for a snapshot.
const maxPoll = 20 * time.Millisecond

// watch reads records until one gives the log to this version. It returns the position of the
// handoff, or 0 for a term that has begun.
func (w *World) watch(ctx context.Context, r *waiter) (from uint64, err error) {
	err = w.log.Read(ctx, r.watched, func(at uint64, rec []byte) error {
		r.watched = at
		w.drain()
		var r entry.Record
		if len(rec) < 4 || entry.Kind(rec[3]) != entry.KindTermStart && entry.Kind(rec[3]) != entry.KindHandoff || r.Decode(rec) != nil {
			return nil
		}
		switch {
		case r.Kind == entry.KindHandoff && r.To == w.o.Version:
			from = at
		case r.Kind == entry.KindTermStart && r.Start.Version == w.o.Version:
		default:
			return nil
		}
		return errEnds
	})
	switch {
	case errors.Is(err, errEnds):
		return from, nil
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case errors.Is(err, fs.ErrClosed):
		return 0, w.halt(fmt.Errorf("world: %w", err))
	}
	// If the records are trimmed, the newest snapshot shows the version, and has a position from
	// which the log can be read.
	saved, err := ask(ctx, w.log, w.log.Snapshots)
	switch {
	case err != nil:
		return 0, fmt.Errorf("world: %w", err)
	case len(saved) > 0 && saved[0] > r.watched:
		r.watched = saved[0]
	case sleep(ctx, lastRetry) != nil:
		return 0, context.Cause(ctx)
	}
	return 0, nil
}

// enter loads the snapshot of a handoff at position from, and ends the wait. there: a snapshot
// is there.
func (w *World) enter(ctx context.Context, from uint64) (there bool, err error) {
	saved, err := w.log.Snapshots(ctx)
	if err != nil || len(saved) == 0 || saved[0] < from {
		return false, nil
	}
	if err := w.lockRunning(ctx); err != nil {
		return true, err
	}
	defer w.unlock()
	switch _, err := w.load(ctx, func(h position) bool { return h.at >= from }); {
	case err == nil, ctx.Err() != nil, errors.Is(err, errOther):
		return true, err
	default:
		return true, w.halt(err)
	}
}
