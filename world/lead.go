package world

import (
	"context"
	"time"

	"handloom/internal/entry"
	"handloom/tasks"
)

const maxCatchUp = 2

func (w *World) lead(ctx context.Context) error {
	// A tick that is sealed when ctx ends still gets its record, so its calls are not uncertain.
	late, cancel := lingering(ctx, drainTime)
	defer cancel()
	if w.o.Hz == 0 {
		return w.leadOnInput(ctx, late)
	}
	loop := tasks.Loop{Hz: w.o.Hz, MaxCatchUp: maxCatchUp}
	return loop.Run(ctx, func(context.Context, uint64) error { return w.leaderTick(late) })
}

// drainTime is the time for an append after its context has ended.
const drainTime = time.Second

func lingering(ctx context.Context, d time.Duration) (context.Context, func()) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(d, func() { cancel(context.Cause(ctx)) })
	})
	return late, func() {
		stop()
		cancel(nil)
	}
}

// leadOnInput runs a tick when calls have arrived. On a shared log it appends a record before
// others take over.
func (w *World) leadOnInput(ctx, late context.Context) error {
	var beat <-chan time.Time
	if every := w.heartbeat(); every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		beat = ticker.C
	}
	for calls, due := true, false; ; {
		if err := w.inputTick(late, calls, due); err != nil {
			return err
		}
		calls, due = true, false
		select {
		case <-w.exclusive.Arrived():
		case <-beat:
			calls, due = w.hasInput(), true
		case <-w.woken:
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // select picks any ready channel
			return context.Cause(ctx)
		}
	}
}

// heartbeats is the minimum number of a leader's records within the election timeout.
const heartbeats = 3

// heartbeat returns the maximum time between two records of a leader; 0 means no limit.
func (w *World) heartbeat() time.Duration { return w.log.ElectionTimeout() / heartbeats }

// inputTick runs a tick if calls wait, which they may only if calls is true. Otherwise, if due, it
// appends a record without a tick.
func (w *World) inputTick(ctx context.Context, calls, due bool) error {
	if err := w.lockRunning(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if w.is(leading) && w.pending() != nil { // an earlier Run has ended during its append
		if err := w.complete(ctx); err != nil {
			return err
		}
	}
	if !w.is(leading) {
		return errFenced
	}
	if calls && w.sealTick(true) {
		return w.complete(ctx)
	}
	if !due {
		return nil
	}
	w.sealIdle(w.digestPart)
	return w.complete(ctx)
}

// sealIdle seals a record without a tick of its own.
func (w *World) sealIdle(digests func(h *position) entry.StateDigest) {
	l, h := w.role.(*leader), w.at()
	r := w.record(entry.KindIdle, &h)
	r.State = digests(&h)
	l.buf = r.Append(l.buf[:0])
	l.pending = &pending{prev: h.at, bytes: l.buf}
}

func (w *World) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}
