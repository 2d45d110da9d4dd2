package store

import (
	"cmp"
	"context"
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// Submit takes commands from outside of the ticks, as [Store.Submit] does, and returns
// when [Calls.Done] says what became of them: with a receipt that knows the tick, and the
// handles of what the call created, or with the error of Done. The order of the calls is
// that in which their functions return.
//
// What f recorded becomes bytes before anybody waits: memory that its values refer to is
// the caller's again when Submit returns, however that comes. A provisional handle that f
// was not given by its own queue is stale, in values as well. A call of more than 32 MiB
// is [ErrQueueFull]. A call that a flush drops is [ErrFull]; nothing of it is applied.
//
// Any number of goroutines may call it, but for the driver's: with the context of a phase
// or of the claim it is [ErrPhase]. It fails as Store.Submit does, nothing of the call
// being applied, or with [ErrUncertain] when ctx ends while the call waits; with
// [ErrDiscarded] when the claim is released, [ErrClosed] when the store is closed, and
// [ErrBroken] when it is broken, before the call was sealed.
func (c *Claim) Submit(ctx context.Context, f func(q Queue) error) (*Receipt, error) {
	const not = "store: Submit: %w; nothing of the call is applied"
	c.store.given(ctx, "Submit")
	check.Given(f != nil, "store: Submit", "function")
	if c.contextOf(ctx) != nil {
		return nil, fmt.Errorf(not, fmt.Errorf("%w with the context of the driver, whom it would wait for", ErrPhase))
	}
	if err := c.store.maySubmit(ctx); err != nil {
		return nil, fmt.Errorf(not, err)
	}
	call := batch.NewCall(c.store.Epoch())
	if failed, refused := arrive(c.arrivals, f, call); failed != nil || refused != nil {
		return nil, fmt.Errorf(not, cmp.Or(failed, refused))
	}
	if err := await(ctx, call); err != nil {
		return nil, err
	}
	if err := call.Err(); err != nil {
		return nil, fmt.Errorf("store: Submit: %w", err)
	}
	return &Receipt{call}, nil
}

// Calls are calls of [Claim.Submit] that were sealed.
type Calls struct{ calls []*batch.Call }

// Len returns how many calls there are.
func (c *Calls) Len() int {
	if c == nil {
		return 0
	}
	return len(c.calls)
}

// Done has the calls return: they were applied in a tick, or err says what became of
// them. Only the first call does anything; nil Calls are none.
func (c *Calls) Done(tick uint64, err error) {
	if c == nil {
		return
	}
	for _, call := range c.calls {
		call.Tick = tick
		call.Settle(err)
	}
	c.calls = nil
}

// Seal appends the calls that have arrived to b, in their order and as bytes, which it
// returns: calls of up to most bytes in all, or one that is longer. The others wait for
// the next Seal. Nothing is appended when there are none. The bytes are all that a tick
// is given from outside, here and wherever it is run again; the calls wait until their
// Done.
//
// It costs a copy of the bytes, and waits for no one but calls that arrive at that
// moment.
func (c *Claim) Seal(b []byte, most int) (input []byte, calls *Calls) {
	input, sealed := c.arrivals.Seal(b, most)
	return input, &Calls{sealed}
}

// Put makes what Seal returned the input of a tick: its calls are applied by the first
// flush that follows, after what passes have recorded until then, and together with
// nothing that arrives meanwhile. Limits of queues and batches do not refuse it. calls
// are those of the input, to know what they created, or nil where it is run again. The
// bytes must stay as they are until that flush. To a [Report] the calls are one call of
// the inbox, unless the flush drops some: a call that does not fit is dropped whole, as
// [Store.Inbox] says, and its Submit returns the error. Input of version 1, of earlier
// versions of this package, is dropped by no flush: one that it does not fit fails, so
// that an old log leads to the same states.
//
// It fails with [ErrInput], and nothing is kept, when the bytes are not what a Seal gave,
// of a store with the same tables, when calls are of other bytes, and when the input
// before was not flushed. Whatever the bytes are, it does not panic and takes no more
// memory than a multiple of them, which the tables decide. The [*PanicError] of a Links
// function is returned.
//
// Put joins the Write whose context it is given, or holds the store alone. It takes time
// in proportion to the bytes (op=claim/step=put).
func (c *Claim) Put(ctx context.Context, input []byte, calls *Calls) error {
	s := c.store
	p, err := s.enter(ctx, opPut)
	if err != nil {
		return err
	}
	defer p.leave()
	if s.claim.Load() != c {
		return fmt.Errorf("store: Put: %w: the claim was released", ErrPhase)
	}
	var waiting []*batch.Call
	if calls != nil {
		waiting = calls.calls
	}
	if err := s.run(p, 1, func(int) error { return s.batch.PutInput(input, waiting) }, nil); err != nil {
		return fmt.Errorf("store: Put: %w", err)
	}
	return nil
}
