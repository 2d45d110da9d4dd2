package store

import (
	"context"
	"errors"
	"fmt"

	"handloom/batch"
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
