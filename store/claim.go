package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"handloom/batch"
	"handloom/internal/check"
)

// ErrInput is what [Claim.Put] returns, wrapped with the reason, for bytes that no
// [Claim.Seal] of a store with the same tables gave.
var ErrInput = batch.ErrInput

// errClaimed is what others are told while a store is claimed.
var errClaimed = fmt.Errorf("%w: a driver has claimed the store, and changes it in its ticks alone; hand the driver what is to change", ErrPhase)

// Claim is the sole right to change a store, for a driver that logs what it applies.
//
// Nobody else may flush, write or record while it is held: Write, passes, Flush, Run of a
// schedule, Checkpoint, Rollback, Load, Inbox, Submit, Queues, Discard, Register, AddColumn and Close
// are [ErrPhase], but for phases with the context of the Claim. Read, Reduce, Digest,
// Verify, Snapshot and ReadCheckpoint are anybody's still. Inside a tick Rollback and
// Load are ErrPhase, too.
//
// A driver has its users call [Claim.Submit] instead, and makes ticks of what arrives:
//
//	input, calls := c.Seal(nil, 1<<20) // and appends input to a log
//	err := s.Write(c.Context(ctx), func(ctx context.Context, w *store.Writer) error {
//		c.Forget()
//		if err := c.Put(ctx, input, calls); err != nil {
//			return err
//		}
//		return tick(ctx, w)
//	})
//	calls.Done(number, err)
//
// A store with the same tables that was in the same state and is given the same bytes,
// with calls nil, comes to the same state: what was sealed is recorded anew from the
// bytes, here as there, so that nothing is applied that they do not hold.
//
// A Claim has one driver, on one goroutine at a time; any may call Submit.
type Claim struct {
	store    *Store
	arrivals *batch.EncodedInbox
}

// Claim gives the caller the sole right to change s, until [Claim.Release]. Readers may
// go on.
//
// It waits for the phase that is open, and fails with [ErrPhase] inside one, while
// another Claim is held, and when commands or calls of the inbox wait for a flush. It
// fails with [ErrSnapshot] when the items of a table cannot become bytes, naming each
// such table and a field of it: those that hold pointers, interfaces, functions or
// channels.
func (s *Store) Claim(ctx context.Context) (*Claim, error) {
	p, err := s.enter(ctx, opClaim)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	var errs []error
	for _, t := range s.tables {
		if err := t.newCopy().codable(); err != nil {
			errs = append(errs, &SnapshotError{Table: t.name, Err: err})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("store: Claim: %w", err)
	}
	if n := s.batch.Pending().Commands; n > 0 {
		return nil, fmt.Errorf("store: Claim: %w: %d commands wait for a flush; flush or discard them before", ErrPhase, n)
	}
	c := &Claim{store: s, arrivals: s.batch.Claim(errClaimed)}
	if c.arrivals == nil {
		return nil, fmt.Errorf("store: Claim: %w: calls of the inbox wait for a flush; flush or discard them before", ErrPhase)
	}
	s.claim.Store(c)
	return c, nil
}

// Release ends the claim: others may change the store again, and phases with the context
// of the claim are as any. Calls of Submit that were not sealed return [ErrDiscarded],
// and input that was not flushed is dropped. The driver calls it between ticks. Only the
// first call does anything.
func (c *Claim) Release() {
	c.arrivals.Release(fmt.Errorf("%w when the claim of the store was released; nothing of the call is applied", ErrDiscarded))
	c.store.claim.CompareAndSwap(c, nil)
}

// Context returns ctx for phases that are the driver's own. Made of the context of a
// Write it is for the driver inside of that, who may call Rollback there: to run a tick
// once in advance, say.
func (c *Claim) Context(ctx context.Context) context.Context {
	c.store.given(ctx, "Context")
	return &claimed{ctx, c, c.store.phaseOf(ctx)}
}

// claimed is a context of a driver.
type claimed struct {
	context.Context
	claim *Claim
	phase *phase // that it was made in, or nil
}

// claimKey finds the claim of one store in a context.
type claimKey struct{ store *Store }

// Value makes the claim findable.
func (c *claimed) Value(key any) any {
	if k, ok := key.(claimKey); ok && k.store == c.claim.store {
		return c
	}
	return c.Context.Value(key)
}

// contextOf returns the context of the driver that ctx is made of last, or nil.
func (c *Claim) contextOf(ctx context.Context) *claimed {
	if of, ok := ctx.Value(claimKey{c.store}).(*claimed); ok && of.claim == c {
		return of
	}
	return nil
}

// mayRollBack reports whether a phase inside of a Write may change what the log has led
// to: that of the driver, and not that of its tick.
func (p *phase) mayRollBack() bool {
	c := p.store.claim.Load()
	if c == nil {
		return true
	}
	of := c.contextOf(p.Context)
	return of != nil && of.phase == p.outer
}

// unclaimed returns why a call that no context tells the driver's from others' cannot be
// made now, or nil.
func (s *Store) unclaimed(op operation) error {
	if s.claim.Load() != nil {
		return fmt.Errorf("store: %v: %w", op, errClaimed)
	}
	return s.usable(op)
}

// refused returns why a claim keeps a phase from beginning, or nil.
func (p *phase) refused() error {
	if c := p.store.claim.Load(); c != nil {
		return p.refusedBy(c)
	}
	return nil
}

func (p *phase) refusedBy(c *Claim) error {
	switch {
	case p.op.shared():
		return nil
	case p.op != opClaim && c.contextOf(p.Context) != nil:
		return nil
	}
	return fmt.Errorf("store: %v: %w", p.op, errClaimed)
}

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
		call.Complete(err)
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

// Schema returns a text of what has to be the same wherever a tick is run again: names,
// typeIds, item types and options of the tables, in the order of registration, and the
// limits of queues and batches, Changes and Links of columns and optional data. Tables
// that differ in one of these have different texts.
func (c *Claim) Schema() string {
	var b strings.Builder
	o := &c.store.options
	fmt.Fprintf(&b, "queues of %d commands, %d bytes; batches of %d commands, %d bytes\n",
		cmp.Or(o.QueueLimit, defaultQueueLimit), o.QueueBytes, o.BatchLimit, o.BatchBytes)
	if o.Seed != 0 {
		fmt.Fprintf(&b, "random numbers of seed %d\n", o.Seed)
	}
	for _, t := range c.store.tables {
		fmt.Fprintf(&b, "table %q: %v; MaxItems %d, MinFree %d, ChunkItems %d, Links %t, Changes %t, FixedKeys %t\n",
			t.name, t.newCopy().image(), t.maxItems, t.minFree, t.chunk, t.visitor != nil, t.tracked, t.touched.fixedKeys)
		if t.events { // others have no line, as in the first logs
			fmt.Fprintf(&b, "table %q: Events\n", t.name)
		}
		for _, c := range t.columns {
			if c.tracked || c.visitor != nil { // others have no line, as in the first logs
				fmt.Fprintf(&b, "column %q of table %q: Links %t, Changes %t\n", c.name, t.name, c.visitor != nil, c.tracked)
			}
		}
		for _, c := range t.sparse {
			if c.visitor != nil {
				fmt.Fprintf(&b, "optional data %q of table %q: Links true\n", c.name, t.name)
			}
		}
	}
	return b.String()
}

// Forget empties all that a program can see of the last frame: Created, Erased and Written
// of tables, and Written of columns. Its provisional handles resolve no more.
// A snapshot has none of that. A tick that read it would come to another state when it is
// run again from a snapshot.
//
// It takes O(shards) time. The driver calls it in the Write of a tick, before the tick;
// elsewhere it panics.
func (c *Claim) Forget() {
	s := c.store
	if !s.gate.heldExclusive() {
		panic("store: Forget outside of a Write; readers may look at what it forgets, so call it inside, before the tick")
	}
	s.forgetFrame()
}

// Left returns how many commands wait for a flush, the input that was Put included, and
// the name of a table that they are for; "" for erases of handles that no table has. A
// tick that leaves some cannot be run again: they are in no snapshot. The driver calls it
// behind a tick. It takes O(queues) time.
func (c *Claim) Left() (table string, n int) {
	ordinal, n := c.store.batch.Remaining()
	if ordinal >= 0 {
		table = c.store.tables[ordinal].name
	}
	return table, n
}
