package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/store"
)

type origin struct {
	appended  bool           // this World appended it, or runs it before its record
	replay    bool           // an earlier World applied it
	calls     entrance.Calls // local calls whose input is in the record
	at        uint64         // position of the record; 0: a tick before its record
	upTo      uint64         // the last tick to run; 0: no limit
	unchecked bool           // digests are not compared
}

// Also the leader decodes the bytes of the log. After any error but errEnds, at from.upTo, the
// World has halted.
func (w *World) apply(ctx context.Context, at uint64, b []byte, from origin) error {
	h, r := w.at(), entry.Record{}
	from.at = at
	err := w.check(&r, &h, at, b)
	if w.mayWait(err) {
		return w.waitAfter(at)
	}
	if err == nil {
		err = w.runIdle(ctx, &r, from)
	}
	if errors.Is(err, errEnds) {
		return err
	}
	if err == nil && !from.appended && !from.unchecked {
		err = w.compare(at, r.State)
	}
	if err != nil {
		entrance.Done(from.calls, 0, fmt.Errorf("%w: %w", store.ErrUncertain, err))
		return w.halt(err)
	}
	h = w.at()
	handed := h.Handed
	h.at, h.chain, h.Cell, h.Idle = at, h.chain.Next(b), r.Cell, 0
	w.saver.total.bytes += uint64(len(b))
	switch r.Kind {
	case entry.KindTick:
		h.tick, h.Time, h.Seed = r.Tick, r.Time, r.Chain.Seed(r.Tick)
		return w.applyTick(ctx, h, r.Input, from)
	case entry.KindTermStart:
		h.Term, h.Leader, h.Start, h.Handed, h.To, h.Wait = r.Term, r.Incarnation, r.Start, false, "", 0
	case entry.KindHandoff:
		h.Handed, h.To, h.Wait = true, r.To, r.Wait
	}
	switch {
	case r.Kind == entry.KindTermStart && from.appended:
		w.change(event{kind: termBegun, role: new(leader), position: &h})
	case r.Kind == entry.KindTermStart:
		w.change(event{kind: otherBegun, role: &follower{ran: w.ran()}, position: &h})
	case r.Kind == entry.KindHandoff && from.appended:
		w.change(event{kind: handoffDone, role: &offer{at: at}, position: &h})
	default:
		w.setPosition(h)
	}
	w.lastRecord = time.Now()
	if r.Kind == entry.KindTermStart && !from.replay && !handed {
		w.sawTerm()
	}
	return nil
}

func (w *World) check(r *entry.Record, h *position, at uint64, b []byte) error {
	switch err := r.Decode(b); {
	case errors.Is(err, entry.ErrVersion):
		return fmt.Errorf("world: record %d: %w: %w", at, ErrVersion, err)
	case err != nil:
		return corrupt(at, "%w", err)
	}
	if err := follows(r, h); err != nil {
		return corrupt(at, "%w", err)
	}
	start := &h.Start
	switch r.Kind {
	case entry.KindSkip:
		return nil
	case entry.KindTermStart:
		start = &r.Start
	}
	if err := w.mayApply(start); err != nil {
		return fmt.Errorf("world: record %d: %w", at, err)
	}
	return nil
}

func follows(r *entry.Record, h *position) error {
	// r counts all ticks since its predecessor, and h the ticks that this World has run. The
	// tick of r follows tick before.
	term, leader, before := h.Term, h.Leader, h.tick+uint64(r.Idle)-uint64(h.Idle)
	tick := before
	switch r.Kind {
	case entry.KindTermStart:
		term, leader = term+1, r.Incarnation
	case entry.KindTick:
		tick++
	case entry.KindSkip:
		leader = r.Incarnation
	}
	switch {
	case r.Chain != h.chain:
		return errors.New("chain does not match the record before it")
	case h.Cell != 0 && r.Cell != h.Cell:
		return fmt.Errorf("cell=%x, want cell=%x", r.Cell, h.Cell)
	case r.Term != term || r.Incarnation != leader || r.Tick != tick:
		return fmt.Errorf("%v term=%d tick=%d leader=%x, want term=%d tick=%d leader=%x", r.Kind, r.Term, r.Tick, r.Incarnation, term, tick, leader)
	// A World that ran more ticks than the record counts would be ahead of the log.
	case r.Idle < h.Idle, r.Idle > h.Idle && h.Start.Hz == 0:
		return fmt.Errorf("%d ticks without input since the record before, want at least %d, and none if the leader has no Hz", r.Idle, h.Idle)
	case r.Kind != entry.KindSkip && r.State.Tick != before:
		return fmt.Errorf("digests after tick %d, want tick %d", r.State.Tick, before)
	}
	return nil
}

// h is the position after the tick.
func (w *World) applyTick(ctx context.Context, h position, input []byte, from origin) error {
	p := tickRun{w, h, input, from}
	// A tick that has begun runs to its end, because the record stays and half of a tick is a
	// state that no other World has.
	ctx = context.WithValue(context.WithoutCancel(ctx), insideKey{w}, true)
	begun, epoch := time.Now(), w.store.Epoch()
	runs := begun
	err := w.exclusive.Hold(ctx, func(ctx context.Context, writer *store.Writer) error {
		runs = time.Now() // readers had the store before
		err := p.run(ctx, writer, w.skips[h.tick])
		if err != nil {
			w.become(event{kind: errorMet, role: &ended{halted, err}}) // before readers see a half-finished tick
			return err
		}
		w.setPosition(h)
		return nil
	})
	took, ran := time.Since(begun), time.Since(runs)
	entrance.Done(from.calls, h.tick, callError(err))
	if err != nil {
		return p.halt(err)
	}
	w.saver.countTick(w.store.Epoch() != epoch, ran)
	if h.Idle == 0 {
		w.lastRecord = time.Now()
	}
	w.ticked = begun
	w.noteTick(&h, took)
	if w.o.Applied != nil {
		w.o.Applied(ctx, Outcome{Tick: h.shown(), Leader: from.appended, Unrecorded: from.at == 0, Replay: from.replay || h.tick <= w.ran()})
	}
	// A snapshot has the position of a record, so no tick may follow the record.
	if !from.replay && h.Idle == 0 {
		w.saveIfDue(ctx, from.appended)
	}
	return nil
}

// callError returns the error for the calls of a tick. Except after ErrTick it is uncertain:
// the record stays in the log, and a later World may apply it.
func callError(err error) error {
	if err == nil || errors.Is(err, ErrTick) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUncertain, err)
}

type insideKey struct{ *World }

func (w *World) inside(ctx context.Context) bool { return ctx.Value(insideKey{w}) != nil }
