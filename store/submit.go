package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"handloom/batch"
	"handloom/internal/check"
)

var (
	// ErrRolledBack is what Submit returns, wrapped, when a Rollback took back its call
	// before the end of the frame: nothing of the call is in the state then.
	ErrRolledBack = errors.New("rolled back")
	// ErrDiscarded is what Submit returns, wrapped, when Discard dropped its call:
	// nothing of it was applied.
	ErrDiscarded = errors.New("discarded")
	// ErrUncertain is what Submit returns, wrapped with the cause, when its context
	// ended before it was known what becomes of the call: it may still be applied, or
	// may have been.
	ErrUncertain = errors.New("it may be applied")
)

// Receipt says what became of a call of [Store.Submit]. It is the caller's own, good
// for ever and for any goroutine.
//
// The guide's page is guide/server.md.
type Receipt struct {
	call *batch.Call
}

// Epoch returns the epoch of the flush that applied the call; that of the store when
// the call recorded nothing.
func (r *Receipt) Epoch() uint64 { return r.call.Epoch }

// Tick returns the number of the tick of package world that applied the call, 0 without
// one.
func (r *Receipt) Tick() uint64 { return r.call.Tick }

// Resolve returns the handle of the item that the provisional handle id was recorded
// for, in the call, and whether there is one: false when the create was cancelled, and
// for whatever else the call did not create. The item may be erased by now.
func (r *Receipt) Resolve(id ID) (ID, bool) { return r.call.Resolve(id) }

// Resolved returns the handle of the item that the provisional handle p was recorded
// for, in the call that r is of; see [Receipt.Resolve].
func Resolved[T any](r *Receipt, p Handle[T]) (Handle[T], bool) {
	check.Given(r != nil, "store: Resolved", "Receipt")
	id, ok := r.Resolve(p.ID)
	return Handle[T]{ID: id}, ok
}

// Submit takes commands from outside of the passes, as [Store.Inbox] does, and returns
// when the frame that applied them has ended, so that a Read finds what came of them: at
// once, or, after an EndFrame, when that Write has ended. The receipt knows the handles of what the call created. When f
// records nothing, Submit returns at once.
//
// Any number of goroutines may call it, but none that others wait for to end a frame:
// not the one that flushes, nor any inside a phase. With the context of a phase Submit is
// [ErrPhase]; with another one, say that of an HTTP request inside a Read, or inside
// Options.AfterFlush, Links or Clone, it waits until that ends. A build with the tag
// handloom_check makes that ErrPhase, too, unless the context has a deadline.
//
// A flush that fails keeps the call, which waits on. All errors but two say that nothing
// of the call is applied, nor will be: that of f, ErrPhase, [ErrQueueFull], [ErrFull],
// [ErrDuplicate] or the [*PanicError] of a Links or key function for a call that the flush dropped (see
// [Store.Inbox]), [ErrClosed]
// also when the store is closed meanwhile, [ErrDiscarded], [ErrRolledBack], and the cause
// of ctx when that had ended before. [ErrUncertain] says that ctx ended while the call
// waited, which stays in the inbox, and [ErrBroken] that a flush failed beyond its
// commit point.
//
// It costs what a call of the inbox does and a few allocations; the receipt takes 8
// bytes for each create, and 32 more for each table and 16,384 of them.
func (s *Store) Submit(ctx context.Context, f func(q Queue) error) (*Receipt, error) {
	const not = "store: Submit: %w; nothing of the call is applied"
	s.given(ctx, "Submit")
	check.Given(f != nil, "store: Submit", "function")
	if err := s.maySubmit(ctx); err != nil {
		return nil, fmt.Errorf(not, err)
	}
	call := batch.NewCall(s.Epoch())
	if failed, refused := arrive(s.batch, f, call); failed != nil || refused != nil {
		return nil, fmt.Errorf(not, cmp.Or(failed, refused))
	}
	if err := await(ctx, call); err != nil {
		return nil, err
	}
	switch err := call.Err(); {
	case errors.Is(err, ErrBroken):
		return nil, fmt.Errorf("store: Submit: %w by a flush; of the call any part may be applied", err)
	case err != nil:
		return nil, fmt.Errorf(not, err)
	}
	return &Receipt{call}, nil
}

// await waits until it is known what became of a call, unless ctx ends before.
func await(ctx context.Context, call *batch.Call) error {
	select {
	case <-call.Completed():
	case <-ctx.Done():
		if !isClosed(call.Completed()) { // of two channels that are ready, select takes any
			return fmt.Errorf("store: Submit: its context ended while the call waited for a frame to apply it: %w: %w", ErrUncertain, context.Cause(ctx))
		}
	}
	return nil
}

// maySubmit returns why Submit would wait for ever or in vain, where that can be told.
func (s *Store) maySubmit(ctx context.Context) error {
	if p := s.phaseOf(ctx); p != nil {
		return fmt.Errorf("%w inside %v, which no frame ends before; use Inbox, or call Submit with a context from outside when %v has returned", ErrPhase, p.op, p.op)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("its context had ended before: %w", context.Cause(ctx))
	}
	if check.Full {
		return s.goroutines.waits(&phase{Context: ctx, store: s, op: opSubmit})
	}
	return nil
}

// receipts are the calls that flushes have applied, until their frames end.
type receipts struct {
	mutex sync.Mutex
	open  []openReceipt
	calls []*batch.Call // scratch
}

// openReceipt is a call whose frame has not ended.
type openReceipt struct {
	call  *batch.Call
	frame *frame
	flush uint64 // that applied it, by number
	gone  bool   // a Rollback took it back, and none brought it back since
}

// applied notes the calls that a flush of a frame has applied.
func (o *receipts) applied(b *batch.Batch, of *frame, flush, epoch uint64) {
	o.calls = b.Applied(epoch, o.calls[:0])
	if len(o.calls) == 0 {
		return
	}
	of.waitedFor = true
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for _, call := range o.calls {
		o.open = append(o.open, openReceipt{call: call, frame: of, flush: flush})
	}
	clear(o.calls)
}

// end completes the calls of a frame that has ended.
func (o *receipts) end(of *frame) {
	if !of.waitedFor {
		return
	}
	of.waitedFor = false
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.open = slices.DeleteFunc(o.open, func(r openReceipt) bool {
		if r.frame != of {
			return false
		}
		var err error
		if r.gone {
			err = ErrRolledBack
		}
		r.call.Complete(err)
		return true
	})
}

// inState appends the numbers of the flushes that applied open calls which the state has.
func (o *receipts) inState(flushes []uint64) []uint64 {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for _, r := range o.open {
		if !r.gone {
			flushes = append(flushes, r.flush)
		}
	}
	return flushes
}

// rollBack notes which open calls the state has after a Rollback to a checkpoint, which
// has the calls of the given flushes.
func (o *receipts) rollBack(flushes []uint64) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for i := range o.open {
		r := &o.open[i]
		r.gone = !slices.Contains(flushes, r.flush)
	}
}
