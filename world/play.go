package world

import (
	"context"
	"errors"
	"runtime/debug"

	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/store"
)

// A tickRun is one run of a tick.
type tickRun struct {
	*World
	position position // after the tick
	input    []byte
	from     origin
}

// With skips, a tick that fails with its input runs without it.
func (p *tickRun) run(ctx context.Context, writer *store.Writer, skips bool) error {
	if skips {
		if _, err := p.dryRun(ctx, writer); err != nil {
			p.input = nil
		}
		return p.once(ctx, writer, p.from.calls)
	}
	var state entry.StateDigest
	if p.shadowIsDue() {
		var err error
		if state, err = p.dryRun(ctx, writer); err != nil {
			return err
		}
	}
	if err := p.once(ctx, writer, p.from.calls); err != nil {
		return err
	}
	return p.compare(p.from.at, state)
}

func (p *tickRun) shadowIsDue() bool {
	if !p.from.appended {
		return false
	}
	l := p.role.(*leader)
	l.shadow += p.o.Shadow
	if l.shadow < 1 {
		return false
	}
	l.shadow--
	return true
}

func (p *tickRun) dryRun(ctx context.Context, writer *store.Writer) (entry.StateDigest, error) {
	if err := p.store.Checkpoint(ctx, &p.before); err != nil {
		return entry.StateDigest{}, err
	}
	failed := p.once(ctx, writer, nil)
	state := p.state(&p.position)
	if err := p.store.Rollback(p.exclusive.Context(ctx), &p.before); err != nil {
		return entry.StateDigest{}, err
	}
	return state, failed
}

// once runs the tick, and again from the state before it as often as the program asks for with
// [entrance.Redo].
func (p *tickRun) once(ctx context.Context, writer *store.Writer, calls entrance.Calls) error {
	if len(p.input) == 0 {
		return p.attempt(ctx, writer, calls)
	}
	saved, epoch := false, p.store.Epoch()
	redo := &entrance.Redo{HasInput: p.exclusive.InputHas, Save: func(ctx context.Context) bool {
		if !saved && p.store.Epoch() == epoch {
			saved = p.store.Checkpoint(ctx, &p.undo) == nil
		}
		return saved
	}}
	ctx = entrance.WithRedo(ctx, redo)
	for {
		err := p.attempt(ctx, writer, calls)
		if err == nil || !redo.Again(err) {
			return err
		}
		if err := p.store.Rollback(p.exclusive.Context(ctx), &p.undo); err != nil {
			return err
		}
	}
}

func (p *tickRun) attempt(ctx context.Context, writer *store.Writer, calls entrance.Calls) error {
	failed := func(err error) error { return &TickError{Tick: p.position.tick, At: p.from.at, Err: err} }
	p.exclusive.ResetChanges()
	if err := p.exclusive.Unseal(ctx, p.input, calls); errors.Is(err, entrance.ErrInput) {
		return corrupt(p.from.at, "%w", err)
	} else if err != nil {
		return failed(err)
	}
	if err := p.call(ctx, writer); err != nil {
		return failed(err)
	}
	if err := p.exclusive.EndFrame(ctx); err != nil {
		return failed(err)
	}
	return nil
}

func (p *tickRun) call(ctx context.Context, writer *store.Writer) (err error) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			err = &store.PanicError{Value: v, Stack: debug.Stack()}
		} else if !returned { // runtime.Goexit: no caller will report it
			gone := &TickError{Tick: p.position.tick, At: p.from.at, Err: store.ErrGoexit}
			entrance.Done(p.from.calls, p.position.tick, gone)
			_ = p.halt(gone)
		}
	}()
	err = p.o.Tick(ctx, writer, p.position.shown())
	returned = true
	return err
}

// halt first appends the record of a tick that failed before it, so that every World fails at this
// tick, and a replay reaches the state before it.
func (p *tickRun) halt(err error) error {
	if !p.from.appended || p.from.at > 0 {
		return p.World.halt(err)
	}
	r := p.record(entry.KindIdle, &p.position)
	r.State.Tick = r.Tick // without digests: the tick has no state
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	at, unknown := p.append(ctx, &pending{prev: p.position.at, bytes: r.Append(nil)})
	if failed, ok := errors.AsType[*TickError](err); ok && unknown == nil {
		err = &TickError{Tick: failed.Tick, At: at, Err: failed.Err}
	}
	return p.World.halt(err)
}
