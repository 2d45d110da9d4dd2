package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/store"
)

var errFenced = fmt.Errorf("world: %w", ErrNotLeader)

// A pending record may or may not be in the log.
type pending struct {
	prev  uint64
	bytes []byte
	calls entrance.Calls // of a tick
}

func (w *World) leaderTick(ctx context.Context) error {
	if err := w.lockRunning(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if !w.is(leading) {
		return errFenced // after a concurrent Handoff
	}
	if w.pending() == nil {
		if h := w.at(); !w.hasInput() && w.mayIdle(&h) {
			return w.idleTick(ctx, h, origin{appended: true})
		}
		w.sealTick(false)
	}
	return w.complete(ctx)
}

// sealTick seals the record of the next tick. If needsInput, it returns false for a tick without
// input, which has no record then.
func (w *World) sealTick(needsInput bool) bool {
	l, h, now := w.role.(*leader), w.at(), time.Now()
	r := w.record(entry.KindTick, &h)
	r.Tick++
	r.Time = w.nextTime(&h, now)
	r.State = w.digestPart(&h)
	rec, calls := w.exclusive.Seal(r.Append(l.buf[:0]), w.o.InputBytes)
	l.buf = rec
	if needsInput && calls.Len() == 0 {
		return false
	}
	l.pending, l.sealed = &pending{prev: h.at, bytes: rec, calls: calls}, now
	return true
}

// nextTime returns the time of the tick after h: the leader's clock. After a jump ahead the
// time follows at 1.5 times normal speed, after a jump back at half of it.
func (w *World) nextTime(h *position, now time.Time) int64 {
	tick := w.tickTime()
	passed := tick // since the last tick with a record, by the monotonic clock
	if sealed := w.role.(*leader).sealed; !sealed.IsZero() {
		passed = now.Sub(sealed)
	} else if w.o.Hz == 0 {
		passed = now.Sub(w.ticked) // another leader's tick is at least that old
	}
	if w.o.Hz == 0 {
		tick = passed
	}
	idle := time.Duration(h.Idle) * tick // they had normal speed
	clock := now.UnixNano()
	next := clock
	switch off := time.Duration(clock - h.Time); {
	case h.Time == 0: // the first tick
	case off < 0:
		next = h.Time + max(1, int64(min(passed, tick)/2))
	default:
		next = h.Time + int64(min(off, max(tick, passed+passed/2-idle)))
	}
	w.note(func(f *stats) { f.clockOff = time.Duration(clock - next) })
	return next
}

// tickTime returns the duration of a tick, 0 without Hz.
func (w *World) tickTime() time.Duration {
	if w.o.Hz == 0 {
		return 0
	}
	return time.Second / time.Duration(w.o.Hz)
}

func (w *World) record(k entry.Kind, h *position) entry.Record {
	return entry.Record{Kind: k, Cell: h.Cell, Incarnation: w.incarnation, Term: h.Term, Tick: h.tick, Time: h.Time, Chain: h.chain, Idle: h.Idle}
}

// complete appends the pending record and applies it. A record whose place is taken is dropped.
func (w *World) complete(ctx context.Context) error {
	p := w.pending()
	at, err := w.append(ctx, p)
	switch {
	case errors.Is(err, errFenced):
		if !w.change(event{kind: appendLost, role: &follower{ahead: w.at().Idle > 0}, calls: err}) {
			err = errFenced // without calls nothing is uncertain
		}
		return err
	case errors.Is(err, fs.ErrClosed):
		return w.halt(err)
	case err != nil:
		return err
	}
	// A candidate keeps its record until apply makes it the leader.
	if l, leads := w.role.(*leader); leads {
		l.pending = nil // apply answers the calls
	}
	return w.apply(ctx, at, p.bytes, origin{appended: true, calls: p.calls})
}

const (
	firstRetry = time.Millisecond
	lastRetry  = time.Second
)

// append retries p until the log has it or another record (errFenced), ctx ends, or the log is
// closed: a failed append may have succeeded.
func (w *World) append(ctx context.Context, p *pending) (at uint64, err error) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		begin := time.Now()
		at, err := w.log.Append(ctx, p.prev, p.bytes)
		w.noteAppend(time.Since(begin), err)
		if err == nil {
			return at, nil
		}
		if errors.Is(err, fs.ErrClosed) {
			return 0, fmt.Errorf("world: %w", err)
		}
		if at, err := w.inLog(ctx, p); err != errOpen {
			return at, err
		}
		if sleep(ctx, wait) != nil {
			return 0, fmt.Errorf("world: %w; the log: %w", context.Cause(ctx), err)
		}
	}
}

var errOpen = errors.New("append: outcome unknown")

// answerTime limits the read of one record.
const answerTime = time.Second

// inLog reads the record after p.prev. errOpen: the log does not answer or lacks the record,
// which does not prove that the append failed.
func (w *World) inLog(ctx context.Context, p *pending) (at uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if tail, err := w.log.Tail(ctx); err != nil || tail <= p.prev {
		return 0, errOpen
	}
	at, rec, err := recordAfter(ctx, w.log, p.prev)
	switch saved, unlisted := w.log.Snapshots(ctx); {
	case err == nil && bytes.Equal(rec, p.bytes):
		return at, nil
	case err == nil:
		return at, errFenced
	case unlisted == nil && len(saved) > 0 && saved[0] > p.prev: // another leader has trimmed the record
		return 0, fmt.Errorf("%w: %w", errFenced, store.ErrUncertain)
	}
	return 0, errOpen
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
