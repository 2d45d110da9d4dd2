package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"handloom/internal/entry"
)

// A leader runs ticks without input before a record. Their number is in the next record, and
// other Worlds run them before its tick. So time and seed of such a tick are functions of the
// previous record and the number: 1/Hz after the previous tick, and the seed of the chain.

// idleTime returns the maximum time between two records of this leader.
func (w *World) idleTime() time.Duration {
	if most := w.heartbeat(); most > 0 {
		return min(w.o.Idle, most)
	}
	return w.o.Idle
}

// mayIdle reports whether the tick after h may lack a record: the tick after that one is still
// within the idle time, by the number of ticks and by the clock. While the time of ticks is ahead
// of the clock, each tick has a record, because only a record may slow the time.
func (w *World) mayIdle(h *position) bool {
	tick, most := w.tickTime(), w.idleTime()
	return tick > 0 && h.Time > 0 && h.Idle < entry.MaxIdle &&
		time.Duration(h.Idle+2)*tick <= most && time.Since(w.lastRecord)+tick <= most &&
		h.Time+int64(tick) <= time.Now().Add(most).UnixNano()
}

// hasInput reports whether calls may wait. The caller seals them.
func (w *World) hasInput() bool {
	select {
	case <-w.exclusive.Arrived():
		return true
	default:
		return false
	}
}

// idleTick runs the tick after h without input and without a record of its own.
func (w *World) idleTick(ctx context.Context, h position, from origin) error {
	h.Idle++
	h.tick++
	h.Time += int64(time.Second) / int64(h.Start.Hz)
	h.Seed = h.chain.Seed(h.tick)
	return w.applyTick(ctx, h, nil, from)
}

// runIdle runs the ticks before the tick of r that this World has not run. It ends with errEnds
// at from.upTo.
func (w *World) runIdle(ctx context.Context, r *entry.Record, from origin) error {
	// The calls are of the tick of r.
	from.calls = nil
	for {
		h := w.at()
		switch {
		case from.upTo > 0 && h.tick >= from.upTo:
			return errEnds
		case h.Idle >= r.Idle:
			return nil
		}
		if err := w.idleTick(ctx, h, from); err != nil {
			return err
		}
	}
}

// recordIdle appends the pending record, or a record of the ticks that lack one, with digests.
func (w *World) recordIdle(ctx context.Context, digests func(h *position) entry.StateDigest) error {
	h := w.at()
	switch {
	case w.pending() != nil:
		return w.complete(ctx)
	case h.Idle == 0:
		return nil
	}
	w.sealIdle(digests)
	if err := w.complete(ctx); err != nil {
		return fmt.Errorf("world: %d ticks without input after record %d: %w", h.Idle, h.at, err)
	}
	return nil
}

// undoIdle loads a snapshot if another leader's log lacks the last ticks of this World, which
// then follows. It returns errOpen if another try may succeed.
func (w *World) undoIdle(ctx context.Context) error {
	if err := w.lockRunning(ctx); err != nil {
		return err
	}
	defer w.unlock()
	f, follows := w.role.(*follower)
	if !follows || !f.ahead {
		return nil
	}
	h := w.at()
	// The log has these ticks and Applied has reported them, so they are replays now.
	f.ran = max(f.ran, h.tick-uint64(h.Idle))
	found, err := w.load(ctx, func(position) bool { return true })
	switch {
	case found:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case w.mayWait(err):
		return w.waitAfter(h.at)
	case err == nil:
		err = w.unreadable(ctx)
	}
	if _, silent := errors.AsType[silentError](err); silent && !errors.Is(err, fs.ErrClosed) {
		return errOpen
	}
	return w.halt(fmt.Errorf("world: undo %d ticks after record %d: %w", h.Idle, h.at, err))
}

// ran returns the last tick with a record that this World ran before undoIdle, or 0. The caller has
// the lock.
func (w *World) ran() uint64 {
	if f, follows := w.role.(*follower); follows {
		return f.ran
	}
	return 0
}

// unreadable returns the reason why no snapshot could be loaded: a silentError unless each is
// damaged.
func (w *World) unreadable(ctx context.Context) error {
	saved, err := w.log.Snapshots(ctx)
	if err != nil {
		return silentError{err}
	}
	err = errors.New("no snapshot")
	for _, at := range saved {
		if err = w.damage(at); err == nil {
			return silentError{errOpen}
		}
	}
	return err
}

// verifyIdle returns an error if the log, after the record of h, lacks the ticks of h without a
// record: an export of a leader that lost has them.
func (w *World) verifyIdle(ctx context.Context, h *position) error {
	if h.Idle == 0 {
		return nil
	}
	if tail, err := ask(ctx, w.log, w.log.Tail); err != nil || tail <= h.at {
		return err
	}
	var r entry.Record
	_, rec, err := recordAfter(ctx, w.log, h.at)
	if err = cmp.Or(err, r.Decode(rec)); err == nil && r.Idle < h.Idle {
		err = fmt.Errorf("%d ticks without input after the record, but the log has %d", h.Idle, r.Idle)
	}
	return err
}
