package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/entry"
	"handloom/internal/hook"
	"handloom/store"
)

// An origin says where a record that is applied comes from.
type origin struct {
	own    bool       // this World appended it
	replay bool       // it had been applied before
	calls  hook.Calls // that are in it, if any wait for it here
}

// apply makes the record at this position part of the state. Whoever appended it, it
// is decoded from the bytes that are in the log. With any error the World has halted.
func (w *World) apply(ctx context.Context, at uint64, b []byte, from origin) error {
	h, r := w.at(), entry.Record{}
	if err := w.check(&r, &h, at, b, from); err != nil {
		hook.Done(from.calls, 0, fmt.Errorf("%w: %w", store.ErrUncertain, err))
		return w.halt(err)
	}
	h.at, h.chain, h.Cell = at, h.chain.Next(b), r.Cell
	switch r.Kind {
	case entry.KindTick:
		return w.applyTick(ctx, &r, h, from)
	case entry.KindTermStart:
		h.Term, h.Owner, h.Start, h.Handed, h.To = r.Term, r.Incarnation, r.Start, false, ""
	case entry.KindHandoff:
		h.Handed, h.To = true, r.To
	}
	w.mutex.Lock()
	w.position = h
	w.leads = r.Kind == entry.KindTermStart && r.Incarnation == w.incarnation || r.Kind == entry.KindSkip && w.leads
	w.mutex.Unlock()
	w.quiet = time.Now()
	w.drain() // behind a handoff
	if r.Kind == entry.KindTermStart && !from.replay {
		w.sawTerm()
	}
	return nil
}

// check decodes b into r and says why it cannot follow h, or nil.
func (w *World) check(r *entry.Record, h *position, at uint64, b []byte, from origin) error {
	switch err := r.Decode(b); {
	case errors.Is(err, entry.ErrVersion):
		return fmt.Errorf("world: record %d: %w: %w", at, ErrVersion, err)
	case err != nil:
		return corrupt(at, "%w", err)
	}
	if err := follows(r, h); err != nil {
		return corrupt(at, "%w", err)
	}
	of := &h.Start
	switch r.Kind {
	case entry.KindSkip:
		return nil
	case entry.KindTermStart:
		of = &r.Start
	}
	if err := w.mayApply(of); err != nil {
		return fmt.Errorf("world: record %d: %w", at, err)
	}
	if from.own {
		return nil
	}
	return w.compare(at, r.State)
}

// follows returns the reason if r cannot be the record after h.
func follows(r *entry.Record, h *position) error {
	term, owner, tick := h.Term, h.Owner, h.tick
	switch r.Kind {
	case entry.KindTermStart:
		term, owner = term+1, r.Incarnation
	case entry.KindTick:
		tick++
	case entry.KindSkip:
		owner = r.Incarnation
	}
	switch {
	case r.Chain != h.chain:
		return errors.New("it follows another record than the one before it")
	case h.Cell != 0 && r.Cell != h.Cell:
		return fmt.Errorf("it is of the world %x, and this is %x", r.Cell, h.Cell)
	case r.Term != term || r.Incarnation != owner || r.Tick != tick:
		return fmt.Errorf("it is an %v of term %d, tick %d, by %x; term %d, tick %d by %x was to come", r.Kind, r.Term, r.Tick, r.Incarnation, term, tick, owner)
	case r.Kind != entry.KindSkip && r.State.Tick != h.tick:
		return fmt.Errorf("it tells of the state behind tick %d, and the last is %d", r.State.Tick, h.tick)
	}
	return nil
}

// applyTick plays the tick of r, behind which h is.
func (w *World) applyTick(ctx context.Context, r *entry.Record, h position, from origin) error {
	h.tick, h.Time, h.Seed = r.Tick, r.Time, r.Chain.Seed(r.Tick)
	p := tickRun{w, h, r.Input, from}
	ctx = context.WithValue(context.WithoutCancel(ctx), insideKey{w}, true)
	err := w.store.Write(w.claim.Context(ctx), func(ctx context.Context, writer *store.Writer) error {
		err := p.run(ctx, writer, w.skips[r.Tick])
		if err != nil {
			w.recordHalt(err) // before anybody sees what the tick left
			return err
		}
		w.setPosition(h)
		return nil
	})
	hook.Done(from.calls, r.Tick, told(err))
	if err != nil {
		return w.halt(err)
	}
	w.quiet = time.Now()
	w.noteLag(&h)
	if w.o.Applied != nil {
		w.o.Applied(ctx, Outcome{Tick: h.shown(), Leader: from.own, Replay: from.replay})
	}
	if !from.replay {
		w.saveIfDue(ctx, from.own)
	}
	return nil
}

// told is what calls hear whose tick ended in err. The record stays in the log, where
// nothing but the program keeps it from being part of the state.
func told(err error) error {
	if err == nil || errors.Is(err, ErrTick) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUncertain, err)
}

// insideKey marks the contexts of ticks and of Applied.
type insideKey struct{ *World }

func (w *World) inside(ctx context.Context) bool { return ctx.Value(insideKey{w}) != nil }
