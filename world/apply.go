package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/store"
)

// An origin says where a record that is applied comes from.
type origin struct {
	own    bool         // this World appended it
	replay bool         // it had been applied before
	calls  *store.Calls // that are in it, if any wait for it here
}

// apply makes the record at this position part of the state. Whoever appended it, it
// is decoded from the bytes that are in the log. With any error the World has halted.
func (w *World) apply(ctx context.Context, at uint64, b []byte, from origin) error {
	h, r := w.at(), record{}
	if err := w.check(&r, &h, at, b, from); err != nil {
		from.calls.Done(0, fmt.Errorf("%w: %w", store.ErrUncertain, err))
		return w.halt(err)
	}
	h.at, h.chain, h.cell = at, h.chain.next(b), r.cell
	switch r.kind {
	case kindTick:
		return w.applyTick(ctx, &r, h, from)
	case kindTermStart:
		h.term, h.owner, h.epoch, h.handed, h.to = r.term, r.incarnation, r.epoch, false, ""
	case kindHandoff:
		h.handed, h.to = true, r.to
	}
	w.mutex.Lock()
	w.head = h
	w.owns = r.kind == kindTermStart && r.incarnation == w.incarnation || r.kind == kindSkip && w.owns
	w.mutex.Unlock()
	w.quiet = time.Now()
	w.drain() // behind a handoff
	if r.kind == kindTermStart && !from.replay {
		w.sawTerm()
	}
	return nil
}

// check decodes b into r and says why it cannot follow h, or nil.
func (w *World) check(r *record, h *head, at uint64, b []byte, from origin) error {
	switch err := r.decode(b); {
	case errors.Is(err, errVersion):
		return fmt.Errorf("world: record %d: %w: %w", at, ErrProgram, err)
	case err != nil:
		return corrupt(at, "%w", err)
	}
	if err := r.follows(h); err != nil {
		return corrupt(at, "%w", err)
	}
	of := &h.epoch
	switch r.kind {
	case kindSkip:
		return nil
	case kindTermStart:
		of = &r.epoch
	}
	if err := w.mayApply(of); err != nil {
		return fmt.Errorf("world: record %d: %w", at, err)
	}
	if from.own {
		return nil
	}
	return w.compare(at, r.state)
}

// follows says why r cannot be the record behind h, or nil.
func (r *record) follows(h *head) error {
	term, owner, tick := h.term, h.owner, h.tick
	switch r.kind {
	case kindTermStart:
		term, owner = term+1, r.incarnation
	case kindTick:
		tick++
	case kindSkip:
		owner = r.incarnation
	}
	switch {
	case r.chain != h.chain:
		return errors.New("it follows another record than the one before it")
	case h.cell != 0 && r.cell != h.cell:
		return fmt.Errorf("it is of the world %x, and this is %x", r.cell, h.cell)
	case r.term != term || r.incarnation != owner || r.tick != tick:
		return fmt.Errorf("it is an %v of term %d, tick %d, by %x; term %d, tick %d by %x was to come", r.kind, r.term, r.tick, r.incarnation, term, tick, owner)
	case r.kind != kindSkip && r.state.tick != h.tick:
		return fmt.Errorf("it tells of the state behind tick %d, and the last is %d", r.state.tick, h.tick)
	}
	return nil
}

// applyTick plays the tick of r, behind which h is.
func (w *World) applyTick(ctx context.Context, r *record, h head, from origin) error {
	h.tick, h.time, h.seed = r.tick, r.time, r.chain.seed(r.tick)
	p := played{w, h, r.input, from}
	ctx = context.WithValue(context.WithoutCancel(ctx), insideKey{w}, true)
	err := w.store.Write(w.claim.Context(ctx), func(ctx context.Context, writer *store.Writer) error {
		err := p.play(ctx, writer, w.skips[r.tick])
		if err != nil {
			w.recordHalt(err) // before anybody sees what the tick left
			return err
		}
		w.setHead(h)
		return nil
	})
	from.calls.Done(r.tick, told(err))
	if err != nil {
		return w.halt(err)
	}
	w.quiet = time.Now()
	w.noteLag(&h)
	if w.o.Applied != nil {
		w.o.Applied(ctx, Outcome{Tick: h.shown(), Owner: from.own, Replay: from.replay})
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
