package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"handloom/internal/entry"
	"handloom/internal/hook"
	"handloom/store"
)

// errFenced says that another record is where this World wanted to append one.
var errFenced = fmt.Errorf("world: %w", ErrNotLeader)

// pending is a record that is to be appended, until it is known what became of it.
type pending struct {
	prev  uint64
	bytes []byte
	calls hook.Calls // of a tick
}

// leaderTick seals a tick, appends it and, when it is in the log, applies it. A record
// that is still open comes first.
func (w *World) leaderTick(ctx context.Context, _ func() bool) error {
	if err := w.lockRunning(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if !w.isLeader() {
		return errFenced // a Handoff came between
	}
	if w.pending == nil {
		w.pending = w.sealTick()
	}
	return w.complete(ctx)
}

// sealTick makes the record of the next tick.
func (w *World) sealTick() *pending {
	h := w.at()
	r := w.record(entry.KindTick, &h)
	r.Tick++
	r.Time = w.nextTime(&h)
	r.State = w.digestPart(h.tick)
	rec, calls := w.claim.Seal(r.Append(w.buf[:0]), w.o.InputBytes)
	w.buf = rec
	return &pending{h.at, rec, calls}
}

// nextTime returns the time of the tick after h: the owner's clock, while the clock goes as
// fast as time passes. After a jump ahead the time follows at one and a half times that
// speed, after a jump back at half of it. So one wrong clock leads the time neither far
// away nor to a stop.
func (w *World) nextTime(h *position) int64 {
	now, tick := time.Now(), time.Second/time.Duration(w.o.Hz)
	passed := tick // since the tick before, by a clock that does not jump
	if !w.sealed.IsZero() {
		passed = now.Sub(w.sealed)
	}
	w.sealed = now
	clock := now.UnixNano()
	next := clock
	switch off := time.Duration(clock - h.Time); {
	case h.Time == 0: // the first tick
	case off < 0:
		next = h.Time + max(1, int64(min(passed, tick)/2))
	default:
		next = h.Time + int64(min(off, max(tick, passed+passed/2)))
	}
	w.noteClock(time.Duration(clock - next))
	return next
}

// record returns a record that follows h, without a state.
func (w *World) record(k entry.Kind, h *position) entry.Record {
	return entry.Record{Kind: k, Cell: h.Cell, Incarnation: w.incarnation, Term: h.Term, Tick: h.tick, Time: h.Time, Chain: h.chain}
}

// complete appends the pending record, until it is known what became of it, and applies
// it if it is in the log.
func (w *World) complete(ctx context.Context) error {
	p := w.pending
	at, err := w.append(ctx, p)
	switch {
	case errors.Is(err, errFenced):
		w.noteLostAppend()
		if errors.Is(err, store.ErrUncertain) {
			w.dropPending(err)
		} else {
			w.dropPending(errFenced)
		}
		w.lose()
		return err
	case errors.Is(err, fs.ErrClosed):
		w.dropPending(fmt.Errorf("%w: %w", store.ErrUncertain, err))
		return w.halt(err)
	case err != nil:
		return err
	}
	w.pending = nil
	return w.apply(ctx, at, p.bytes, origin{own: true, calls: p.calls})
}

// dropPending gives up the pending record, for err.
func (w *World) dropPending(err error) {
	if w.pending != nil {
		hook.Done(w.pending.calls, 0, err)
	}
	w.pending = nil
}

// lose ends the ownership: what has not been sealed never will be.
func (w *World) lose() {
	w.mutex.Lock()
	w.leads = false
	w.mutex.Unlock()
	w.quiet = time.Now()
	w.drain()
}

const (
	firstRetry = time.Millisecond
	lastRetry  = time.Second
)

// append appends p. A log that fails leaves open whether it has the record, and the
// same bytes in the same place answer that: append goes on until they are there, or
// others are (errFenced), or ctx ends, or the log takes nothing more.
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

var (
	errOpen = errors.New("it is open what became of the record")
	errEnds = errors.New("that is all")
)

// answerTime is how long a log may take to read one record.
const answerTime = time.Second

// inLog asks the log which record follows the one before p. No answer, and none that
// there is no record, decides anything.
func (w *World) inLog(ctx context.Context, p *pending) (at uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if tail, err := w.log.Tail(ctx); err != nil || tail <= p.prev {
		return 0, errOpen
	}
	is := errOpen
	_ = w.log.Read(ctx, p.prev, func(there uint64, rec []byte) error {
		if at, is = there, nil; !bytes.Equal(rec, p.bytes) {
			is = errFenced
		}
		return errEnds
	})
	if saved, err := w.log.Snapshots(ctx); is == errOpen && err == nil && len(saved) > 0 && saved[0] > p.prev {
		// What followed is trimmed, by another owner.
		return 0, fmt.Errorf("%w: %w", errFenced, store.ErrUncertain)
	}
	return at, is
}

// sleep waits for d, or for the end of ctx, which it returns.
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
