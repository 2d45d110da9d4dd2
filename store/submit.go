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
	// ErrRolledBack means that a Rollback undid a call of Submit before the end of its
	// frame: nothing of the call is in the state.
	ErrRolledBack = errors.New("rolled back")
	// ErrDiscarded means that Discard dropped a call of Submit: nothing of it was
	// applied.
	ErrDiscarded = errors.New("discarded")
	// ErrUncertain means that the outcome of a call of Submit is unknown: it may be applied
	// later, or may have been. Its context ended before, or a Load, or a Rollback to what
	// ReadCheckpoint read, replaced the state inside its frame.
	ErrUncertain = errors.New("it may be applied")
)

// Receipt is the outcome of a call of [Store.Submit]. It is valid forever, on any
// goroutine.
//
// See guide/server.md.
type Receipt struct {
	call *batch.Call
}

// Tick returns the number of the tick of package world that applied the call, or 0.
func (r *Receipt) Tick() uint64 { return r.call.Tick }

// Resolve returns the handle of the item for the provisional handle id of the call, and
// whether it was created: false for a cancelled create and for any other id. The item may
// have been erased since.
func (r *Receipt) Resolve(id ID) (ID, bool) { return r.call.Resolve(id) }

// Resolved returns the typed handle for the provisional handle p of the call; see
// [Receipt.Resolve].
func Resolved[T any](r *Receipt, p Handle[T]) (Handle[T], bool) {
	check.Given(r != nil, "store: Resolved", "Receipt")
	id, ok := r.Resolve(p.ID)
	return Handle[T]{ID: id}, ok
}

// Submit takes commands from outside the passes, as [Store.Inbox] does, and returns after
// the frame that applied them, so that a Read sees the result. The receipt has the handles
// of the creates. When f records nothing, Submit returns at once.
//
// Any number of goroutines may call it, except the goroutine that flushes and goroutines
// inside a phase, because Submit waits for them. With the context of a phase it is
// [ErrPhase]. With another context inside a phase, such as an HTTP request's inside a
// Read, or inside Options.AfterFlush, Links or Clone, it waits until that context ends.
// A build with the tag handloom_check makes that ErrPhase, too, unless the context has a
// deadline.
//
// After a failed flush the call waits for the next one. All errors except two mean that
// nothing of the call is or will be applied: the error of f, ErrPhase, [ErrQueueFull],
// [ErrFull], [ErrDuplicate] or the [*PanicError] of a Links or key function for a dropped
// call (see [Store.Inbox]), [ErrClosed], [ErrDiscarded], [ErrRolledBack], and the cause
// of ctx when that had ended before. [ErrUncertain] means that ctx ended while the call
// waited, and the call stays in the inbox; or that its frame read a snapshot into the state.
// [ErrBroken] means that a flush failed after its commit.
//
// It costs a call of the inbox and a few allocations. The receipt takes 8 bytes per
// create, and 32 more per table and per 16,384 creates.
func (s *Store) Submit(ctx context.Context, f func(q Queue) error) (*Receipt, error) {
	const not = "store: Submit: %w; nothing of the call is applied"
	s.given(ctx, "Submit")
	check.Given(f != nil, "store: Submit", "function")
	if err := s.maySubmit(ctx); err != nil {
		return nil, fmt.Errorf(not, err)
	}
	call := batch.NewCall()
	if failed, refused := arrive(s.batch, f, call); failed != nil || refused != nil {
		return nil, fmt.Errorf(not, cmp.Or(failed, refused))
	}
	if cause := await(ctx, context.Background(), call); cause != nil {
		return nil, uncertain(cause)
	}
	switch err := call.Err(); {
	case errors.Is(err, ErrBroken):
		return nil, fmt.Errorf("store: Submit: %w by a flush; any part of the call may be applied", err)
	case errors.Is(err, ErrUncertain):
		return nil, fmt.Errorf("store: Submit: a state read from a snapshot replaced the state inside its frame: %w", err)
	case err != nil:
		return nil, fmt.Errorf(not, err)
	}
	return &Receipt{call}, nil
}

// await waits for the outcome of a call. If ctx or life ends before, it returns the cause.
func await(ctx, life context.Context, call *batch.Call) error {
	select {
	case <-call.Completed():
		return nil
	case <-ctx.Done():
	case <-life.Done():
		ctx = life
	}
	if isClosed(call.Completed()) { // select picks any ready channel
		return nil
	}
	return context.Cause(ctx)
}

func uncertain(cause error) error {
	return fmt.Errorf("store: Submit: its context ended while the call waited for a frame to apply it: %w: %w", ErrUncertain, cause)
}

// maySubmit returns an error if Submit would wait forever or without effect, as far as it
// can know.
func (s *Store) maySubmit(ctx context.Context) error {
	if p := s.phaseOf(ctx); p != nil {
		return fmt.Errorf("%w inside %v, before which no frame ends; use Inbox, or call Submit with a context from outside when %v has returned", ErrPhase, p.op, p.op)
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
	flush uint64 // number of the flush that applied it
	gone  bool   // a Rollback undid it, and no later one restored it
	lost  bool   // a state was restored that may contain it or not
}

// applied adds the calls that a flush of a frame has applied.
func (o *receipts) applied(b *batch.Batch, current *frame, flush uint64) {
	o.calls = b.Applied(o.calls[:0])
	if len(o.calls) == 0 {
		return
	}
	current.waitedFor = true
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for _, call := range o.calls {
		o.open = append(o.open, openReceipt{call: call, frame: current, flush: flush})
	}
	clear(o.calls)
}

// end completes the calls of a frame that has ended.
func (o *receipts) end(ended *frame) {
	if !ended.waitedFor {
		return
	}
	ended.waitedFor = false
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.open = slices.DeleteFunc(o.open, func(r openReceipt) bool {
		if r.frame != ended {
			return false
		}
		var err error
		switch {
		case r.lost:
			err = ErrUncertain
		case r.gone:
			err = ErrRolledBack
		}
		r.call.Complete(err)
		return true
	})
}

// inState appends the numbers of the flushes whose open calls are in the state.
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

// rollBack marks the open calls that are not in the state after a Rollback. flushes are
// the numbers of inState at the checkpoint, if known. A call once lost stays so: it may be
// in a checkpoint that was taken since.
func (o *receipts) rollBack(flushes []uint64, known bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for i := range o.open {
		r := &o.open[i]
		r.gone = !slices.Contains(flushes, r.flush)
		r.lost = r.lost || !known
	}
}

// Inbox takes commands from outside the passes: it calls fn with a queue, and one flush
// applies the commands of the call, all or none, after the commands of passes and of
// earlier calls. Calls are ordered by their return; this order is the only input to the
// program that does not follow from recorded commands. The first flush of a frame takes
// the calls that have returned when it begins, and the calls of failed flushes before it;
// later calls belong to the next frame.
//
// When the whole batch fits, no call is dropped. Otherwise the flush takes the commands
// of all passes and then adds the calls in order. It drops each call, as a whole, that
// does not fit MaxItems or the slots, claims a taken key of an [Index], or has a value on
// which Links or a key function panics. The decision depends only on the state and the
// batch. [Report].DroppedCalls counts dropped calls; their commands count as dropped, and
// the names of their creates are stale. The flush fails with [ErrFull] or [ErrDuplicate]
// only if the passes alone would.
//
// Any goroutine may call Inbox at any time, also while a phase is open; it does not wait.
// When fn returns an error or panics, nothing of the call is kept. Inbox fails with
// [ErrQueueFull], and keeps nothing, when the call exceeds the limits of a queue or the
// waiting calls exceed Options.InboxLimit; in a full inbox it does not call fn. On a
// closed store it fails with [ErrClosed], on a broken store with [ErrBroken].
// [Store.Submit] also returns the outcome of the call.
//
// Lookups inside fn need a phase.
func (s *Store) Inbox(fn func(q Queue) error) error {
	s.made("Inbox")
	check.Given(fn != nil, "store: Inbox", "function")
	failed, refused := arrive(s.batch, fn, nil)
	if refused != nil {
		return fmt.Errorf("store: Inbox: %w", refused)
	}
	return failed
}

// intake receives calls: the inbox, or the claim on it.
type intake interface {
	Enter() (batch.Queue, error)
	AddCall(q batch.Queue, call *batch.Call) error
	Leave(q batch.Queue)
}

// arrive records with fn and adds the commands to to, with call if a caller waits. It
// returns the error of fn, or the reason of a refusal.
func arrive(to intake, fn func(q Queue) error, call *batch.Call) (failed, refused error) {
	q, err := to.Enter()
	if err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept {
			to.Leave(q)
		}
	}()
	if err := fn(Queue(q)); err != nil {
		return err, nil
	}
	refused = to.AddCall(q, call) // Links may panic
	kept = true
	return nil, refused
}
