package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/entrance"
	"handloom/internal/image"
	"handloom/internal/items"
)

// Entrance is for other packages of this module; programs cannot call it.
func (s *Store) Entrance(entrance.Key) entrance.Store[Queue, *Receipt, *Writer] {
	pending := func() int { return s.batch.Pending().Commands }
	return entrance.Store[Queue, *Receipt, *Writer]{OpenClaim: s.newClaim, NewProbe: s.newProbe, Pending: pending}
}

// Entrance returns the tag that WriteTo writes and ReadCheckpoint reads. It is for other packages
// of this module; programs cannot call it.
func (c *Checkpoint) Entrance(entrance.Key) *image.Tag { return &c.tag }

// Entrance returns the counts of the lists of a table. It is for package view; programs cannot call
// it.
func (c changesOf) Entrance(entrance.Key) entrance.Lists { return c }

func (c changesOf) TypeIDs() (first uint16, n int) { return c.table.first, len(c.table.order) }

func (c changesOf) Reads(ctx context.Context) bool {
	p := c.table.store.phaseOf(ctx)
	return p != nil && p.op == opRead && !p.ended.Load()
}

func (c changesOf) Counts(part string) entrance.Counts {
	w := &c.table.written
	if part != "" {
		w = &c.table.component(part).written
	}
	n := entrance.Counts{Frames: c.table.store.flush.frames, Passes: w.passes, Gone: w.gone}
	if w.isOver() {
		n.Gone = w.passes
	}
	return n
}

// errClaimed is the error of other callers while a store is claimed.
var errClaimed = fmt.Errorf("%w: a driver has claimed the store; let the driver make the change in a tick", ErrPhase)

type claim struct {
	store    *Store
	arrivals *batch.EncodedInbox
}

func (s *Store) newClaim(ctx context.Context) (entrance.Claim[Queue, *Receipt, *Writer], error) {
	p, err := s.enter(ctx, opClaim)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	var errs []error
	for _, t := range s.tables {
		if err := t.newCopy().codable(); err != nil {
			errs = append(errs, &image.Error{Table: t.name, Err: err})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("store: Claim: %w", err)
	}
	if n := s.batch.Pending().Commands; n > 0 {
		return nil, fmt.Errorf("store: Claim: %w: %d commands wait for a flush; flush or discard them first", ErrPhase, n)
	}
	c := &claim{store: s, arrivals: s.batch.Claim(errClaimed)}
	if c.arrivals == nil {
		return nil, fmt.Errorf("store: Claim: %w: calls of the inbox wait for a flush; flush or discard them first", ErrPhase)
	}
	s.claim.Store(c)
	return c, nil
}

func (c *claim) Release() {
	c.arrivals.Release(fmt.Errorf("%w when the claim of the store was released; nothing of the call is applied", ErrDiscarded))
	c.store.claim.CompareAndSwap(c, nil)
}

func (c *claim) Context(ctx context.Context) context.Context {
	c.store.given(ctx, "Context")
	return &claimContext{ctx, c, c.store.phaseOf(ctx)}
}

type claimContext struct {
	context.Context
	claim *claim
	phase *phase // the phase it was made in, or nil
}

type claimKey struct{ store *Store }

func (c *claimContext) Value(key any) any {
	if k, ok := key.(claimKey); ok && k.store == c.claim.store {
		return c
	}
	return c.Context.Value(key)
}

// contextOf returns the innermost context of the driver in ctx, or nil.
func (c *claim) contextOf(ctx context.Context) *claimContext {
	if found, ok := ctx.Value(claimKey{c.store}).(*claimContext); ok && found.claim == c {
		return found
	}
	return nil
}

// mayRollBack reports whether a phase inside a Frame may replace the logged state: only
// the driver may, not its tick.
func (p *phase) mayRollBack() bool {
	c := p.store.claim.Load()
	if c == nil {
		return true
	}
	driver := c.contextOf(p.Context)
	return driver != nil && driver.phase == p.outer
}

// unclaimed returns an error if the store is claimed or unusable. It is for calls without
// a context, which cannot be the driver's.
func (s *Store) unclaimed(op operation) error {
	if s.claim.Load() != nil {
		return fmt.Errorf("store: %v: %w", op, errClaimed)
	}
	return s.usable(op)
}

// refused returns the error of a claim that does not admit the phase, or nil.
func (p *phase) refused() error {
	if c := p.store.claim.Load(); c != nil {
		return p.refusedBy(c)
	}
	return nil
}

func (p *phase) refusedBy(c *claim) error {
	switch {
	case p.op.shared():
		return nil
	case p.op != opClaim && c.contextOf(p.Context) != nil:
		return nil
	}
	return fmt.Errorf("store: %v: %w", p.op, errClaimed)
}

func (c *claim) Submit(ctx, life context.Context, f func(q Queue) error) (*Receipt, error) {
	const not = "store: Submit: %w; nothing of the call is applied"
	c.store.given(ctx, "Submit")
	check.Given(f != nil, "store: Submit", "function")
	if c.contextOf(ctx) != nil {
		return nil, fmt.Errorf(not, fmt.Errorf("%w with the context of the driver: it would wait for the driver", ErrPhase))
	}
	if err := c.store.maySubmit(ctx); err != nil {
		return nil, fmt.Errorf(not, err)
	}
	call := batch.NewCall()
	if failed, refused := arrive(c.arrivals, f, call); failed != nil || refused != nil {
		return nil, fmt.Errorf(not, cmp.Or(failed, refused))
	}
	if cause := await(ctx, life, call); cause != nil {
		if c.arrivals.Withdraw(call) {
			return nil, fmt.Errorf("store: Submit: context ended before a tick took the call: %w; the call is not applied", cause)
		}
		return nil, uncertain(cause)
	}
	if err := call.Err(); err != nil {
		return nil, fmt.Errorf("store: Submit: %w", err)
	}
	return &Receipt{call}, nil
}

func (c *claim) Arrived() <-chan struct{} { return c.arrivals.Arrived() }

type sealedCalls struct{ calls []*batch.Call }

func (c *sealedCalls) Len() int { return len(c.calls) }

func (c *sealedCalls) Done(tick uint64, err error) {
	for _, call := range c.calls {
		call.Tick = tick
		call.Complete(err)
	}
	c.calls = nil
}

func (c *claim) Seal(b []byte, maxBytes int) (input []byte, calls entrance.Calls) {
	input, sealed := c.arrivals.Seal(b, maxBytes)
	return input, &sealedCalls{sealed}
}

func (c *claim) Unseal(ctx context.Context, input []byte, calls entrance.Calls) error {
	s := c.store
	p, err := s.enter(ctx, opUnseal)
	if err != nil {
		return err
	}
	defer p.leave()
	if s.claim.Load() != c {
		return fmt.Errorf("store: Unseal: %w: the claim was released", ErrPhase)
	}
	var waiting []*batch.Call
	if calls != nil {
		waiting = calls.(*sealedCalls).calls
	}
	if err := s.run(p, 1, func(int) error { return s.batch.PutInput(input, waiting) }, nil); err != nil {
		return fmt.Errorf("store: Unseal: %w", err)
	}
	return nil
}

func (c *claim) InputHas(is func(table string) bool) bool {
	return slices.ContainsFunc(c.store.tables, func(t *table) bool { return is(t.name) && c.store.batch.InputHas(&t.recorder) })
}

func (c *claim) Schema() string {
	var b strings.Builder
	o := &c.store.options
	fmt.Fprintf(&b, "queues of %d commands, %d bytes; batches of %d commands, %d bytes\n",
		cmp.Or(o.QueueLimit, defaultQueueLimit), o.QueueBytes, o.BatchLimit, o.BatchBytes)
	if o.Seed != 0 {
		fmt.Fprintf(&b, "random numbers of seed %d\n", o.Seed)
	}
	for _, t := range c.store.tables {
		fmt.Fprintf(&b, "table %q: %v; MaxItems %d, MinFree %d, ChunkItems %d, Links %t, Changes %t, FixedKeys %t\n",
			t.name, t.newCopy().image(), t.maxItems, t.minFree, t.chunk, t.visitor != nil, t.tracked, t.fixedKeys)
		if t.events { // without Events there is no line, as in the first logs
			fmt.Fprintf(&b, "table %q: Events\n", t.name)
		}
		for _, c := range t.columns {
			if c.tracked || c.visitor != nil { // without options there is no line, as in the first logs
				fmt.Fprintf(&b, "column %q of table %q: Links %t, Changes %t\n", c.name, t.name, c.visitor != nil, c.tracked)
			}
		}
		for _, c := range t.sparse {
			if c.visitor != nil {
				fmt.Fprintf(&b, "optional data %q of table %q: Links true\n", c.name, t.name)
			}
			if c.tracked {
				fmt.Fprintf(&b, "optional data %q of table %q: Changes true\n", c.name, t.name)
			}
		}
	}
	return b.String()
}

func (c *claim) ResetChanges() {
	s := c.store
	if !s.gate.heldExclusive() {
		panic("store: ResetChanges outside a Frame; call it inside, before the tick")
	}
	s.forgetFrame()
}

func (c *claim) Hold(ctx context.Context, fn func(ctx context.Context, w *Writer) error) error {
	y, err := c.store.beginWriting(c.Context(ctx), opFrame)
	if err != nil {
		return err
	}
	defer y.end()
	return y.run(fn)
}

func (c *claim) EndFrame(ctx context.Context) error {
	s := c.store
	p := s.phaseOf(ctx)
	if p == nil || p.op != opFrame {
		return fmt.Errorf("store: EndFrame outside Hold: %w", ErrPhase)
	}
	if p.frame.refused != nil {
		return p.frame.refused
	}
	if _, err := s.endFrame(p); err != nil {
		return err
	}
	s.receipts.end(p.frame)
	p.frame.begin(s)
	return nil
}

func (c *claim) DigestShard(typeID uint16) uint64 {
	t := c.store.tableAt(int(typeID))
	if t == nil {
		return 0
	}
	if check.Cheap {
		t.lookup("DigestShard")
	}
	return t.digest(int(typeID - t.first))
}

func (c *claim) Decode(ctx context.Context, input []byte) (calls [][]entrance.Command, err error) {
	p, err := c.store.enter(c.Context(ctx), opUnseal)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	err = c.store.run(p, 1, func(int) (err error) {
		calls, err = c.store.batch.DecodeInput(input)
		return err
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("store: Decode: %w", err)
	}
	return calls, nil
}

func (c *claim) Encode(calls [][]entrance.Command) (input []byte, err error) {
	if input, err = c.store.batch.EncodeInput(calls); err != nil {
		return nil, fmt.Errorf("store: Encode: %w", err)
	}
	return input, nil
}

func (c *claim) Tables() (tables []entrance.Table) {
	zero := func(t *items.Type) func() any {
		return func() any {
			one := t.Make(1)
			return t.Any(one.Data())
		}
	}
	for _, t := range c.store.tables {
		table := entrance.Table{Name: t.name, TypeID: t.first, New: zero(t.typ)}
		for _, p := range t.components {
			table.Parts = append(table.Parts, entrance.Part{Name: p.name, Sparse: p.what == isSparse, New: zero(p.typ)})
		}
		tables = append(tables, table)
	}
	return tables
}
