package world

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"handloom/internal/entry"
	"handloom/internal/hook"
	"handloom/store"
)

// A played is a tick that is being played.
type tickRun struct {
	*World
	position position // behind it
	input    []byte
	from     origin
}

// play plays the tick, inside its Write. skips says that it is to be played without its
// input, should it fail with it.
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
	return p.compare(p.position.at, state)
}

// shadowIsDue reports whether the tick is one that the owner plays twice; see
// Options.Shadow.
func (p *tickRun) shadowIsDue() bool {
	if !p.from.own {
		return false
	}
	p.shadow += p.o.Shadow
	if p.shadow < 1 {
		return false
	}
	p.shadow--
	return true
}

// dryRun plays the tick, goes back, and returns what the state came to.
func (p *tickRun) dryRun(ctx context.Context, writer *store.Writer) (entry.StateDigest, error) {
	if err := p.store.Checkpoint(ctx, &p.before); err != nil {
		return entry.StateDigest{}, err
	}
	failed := p.once(ctx, writer, nil)
	state := p.state(p.position.tick)
	writer.EndFrame()
	if err := p.store.Rollback(p.claim.Context(ctx), &p.before); err != nil {
		return entry.StateDigest{}, err
	}
	return state, failed
}

// once plays the tick, which begins and ends clean: what the last flush left is
// forgotten, and its own first flush takes the input and nothing else.
func (p *tickRun) once(ctx context.Context, writer *store.Writer, calls hook.Calls) error {
	failed := func(err error) error { return &TickError{Tick: p.position.tick, At: p.position.at, Err: err} }
	p.claim.Forget()
	if err := p.claim.Put(ctx, p.input, calls); errors.Is(err, hook.ErrInput) {
		return corrupt(p.position.at, "%w", err)
	} else if err != nil {
		return failed(err)
	}
	if err := p.call(ctx, writer); err != nil {
		return failed(err)
	}
	if table, n := p.claim.Left(); n > 0 {
		return failed(fmt.Errorf("commands not flushed: %d, the first for table %q; flush what the tick records", n, table))
	}
	return nil
}

// call calls the program. A panic is an error.
func (p *tickRun) call(ctx context.Context, writer *store.Writer) (err error) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			err = &store.PanicError{Value: v, Stack: debug.Stack()}
		} else if !returned { // nobody comes behind this to tell
			gone := &TickError{Tick: p.position.tick, At: p.position.at, Err: store.ErrGoexit}
			hook.Done(p.from.calls, p.position.tick, gone)
			_ = p.halt(gone)
		}
	}()
	err = p.o.Tick(ctx, writer, p.position.shown())
	returned = true
	return err
}
