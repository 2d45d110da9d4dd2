package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrCheckpoint is what Checkpoint and Rollback return, wrapped with the reason,
// when a table cannot be copied or a [Checkpoint] holds nothing that the store
// can go back to.
var ErrCheckpoint = errors.New("no usable checkpoint")

// Checkpoint is the state of a store at one moment, as [Store.Checkpoint] copied
// it. The zero Checkpoint is ready to use and empty. It may be used again and
// again, for one store, and keeps the memory that the largest state took; a few
// of them in turn are a history. It must not be copied, as go vet tells.
//
// The guide's page is guide/netcode.md.
type Checkpoint struct {
	_      noCopy
	store  *Store
	whole  bool // a state was copied, to the end
	epoch  uint64
	calls  []uint64      // numbers of flushes that applied calls of Submit whose frame had not ended
	tables []*savedTable // by ordinal
	tag    Tag

	copyRun
}

// noCopy looks like a lock to go vet, which finds copies of what holds one.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// copyRun is scratch of the copying: it holds nothing between calls, but memory.
type copyRun struct {
	work   []copyWork
	cost   []int64 // of work, in nanoseconds
	step   func(t *savedTable, shard int)
	task   func(i int) error // bound once
	shield uncancelled
}

// copyWork is one shard of a table to be copied.
type copyWork struct {
	table *savedTable
	shard int
}

// Checkpoint copies the whole state into into, which [Store.Rollback] goes back
// to later: everything that [Store.Digest] covers, and the epoch, but not the
// pending batch. What into held before is gone.
//
// It costs little more than copying the memory of the items, handles and slots,
// all shards in parallel, and in the steady state allocates nothing that grows
// with them (op=checkpoint). Items that hold slices, maps or pointers need
// [TableOptions.Clone], and elements of columns and optional data [ColumnOptions.Clone].
//
// Checkpoint holds the store alone, or joins the Write whose context it is given.
// It fails with [ErrCheckpoint] when a table lacks Clone, and with the cause of
// ctx when that has ended; nothing was copied then. When Clone panics, the error
// is a [*PanicError], the store is untouched and into is empty.
func (s *Store) Checkpoint(ctx context.Context, into *Checkpoint) error {
	p, err := s.enter(ctx, opCheckpoint)
	if err != nil {
		return err
	}
	defer p.leave()
	if err := into.mayServe(p); err != nil {
		return fmt.Errorf("store: Checkpoint: %w; nothing was copied", err)
	}
	return into.save(p)
}

// Rollback makes the state of the store that which c holds, as if nothing had
// happened since: handles that named an item then name it again, and the epoch
// counts on from where it was. Run again with the same input, the store comes to
// the same digests. c stays as it is, to be rolled back to again.
//
// The pending batch is dropped, as [Store.Discard] does, the inbox included (the
// example ArenaServer keeps what arrives in a store of its own). Provisional handles of
// earlier flushes resolve no more, and what [Created] and its like list is gone: also
// that of the frame which Rollback is in. Handles issued since c was taken must be
// dropped: some are stale, others will name another item. Items of a
// [StableTable] are at the addresses they had when c was taken, unless Shrink has
// given the memory back since; other pointers are no longer good. Costs are those
// of [Store.Checkpoint].
//
// Rollback holds the store alone, or joins the Write whose context it is given.
// It fails with [ErrCheckpoint] when c is empty, of another store or older than
// one of the tables, columns or optional data, and with the cause of ctx when that has ended; nothing has
// changed then. Once begun it comes to an end: when Clone panics, the store takes
// the items that c holds instead of copies of them, c is empty and Rollback
// returns the [*PanicError], but the state is that of c all the same.
func (s *Store) Rollback(ctx context.Context, c *Checkpoint) error {
	p, err := s.enter(ctx, opRollback)
	if err != nil {
		return err
	}
	defer p.leave()
	if err = c.mayServe(p); err == nil {
		err = c.covers(s)
	}
	if err != nil {
		return fmt.Errorf("store: Rollback: %w; nothing has changed", err)
	}
	defer s.rolledBack(c.epoch, c.calls)
	return c.restore(p)
}

// rolledBack does what a rollback does beside the items.
func (s *Store) rolledBack(epoch uint64, calls []uint64) {
	s.batch.Drop(ErrRolledBack)
	s.receipts.rollBack(calls)
	for _, t := range s.tables {
		t.version++
		_ = t.reindex() // the items had these keys before, or were checked when they were read
	}
	s.forgetFrame()
	s.epoch.Store(epoch)
	s.publishAll(s.tables)
}

// mayServe returns what keeps the phase from copying to or from c, or nil.
func (c *Checkpoint) mayServe(p *phase) error {
	switch {
	case c == nil:
		return fmt.Errorf("%w: it is nil; give the address of one", ErrCheckpoint)
	case c.store != nil && c.store != p.store:
		return fmt.Errorf("%w: it is of another store; each store takes its own", ErrCheckpoint)
	case p.Err() != nil:
		return context.Cause(p)
	}
	return p.store.copyable()
}

// covers reports whether c holds a state of s.
func (c *Checkpoint) covers(s *Store) error {
	switch {
	case !c.whole:
		return fmt.Errorf("%w: it is empty, for no Checkpoint into it has succeeded", ErrCheckpoint)
	case len(c.tables) < len(s.tables):
		return fmt.Errorf("%w: it was taken before table %q was registered", ErrCheckpoint, s.tables[len(c.tables)].name)
	}
	for _, t := range c.tables {
		if all := t.table.parts; len(t.parts) < len(all) {
			of := all[len(t.parts)]
			return fmt.Errorf("%w: it was taken before %s %q was added to table %q", ErrCheckpoint, of.what, of.name, t.table.name)
		}
	}
	return nil
}

// copyable names every table whose items cannot be copied.
func (s *Store) copyable() error {
	var errs []error
	for _, t := range s.tables {
		errs = append(errs, t.copying.faults...)
	}
	return errors.Join(errs...)
}

// save copies the state of the phase's store.
func (c *Checkpoint) save(p *phase) error {
	s := p.store
	for _, t := range s.tables[len(c.tables):] {
		c.tables = append(c.tables, t.newCopy())
	}
	for _, t := range c.tables {
		t.renew()
	}
	c.store, c.epoch, c.whole = s, s.Epoch(), false
	c.calls = s.receipts.inState(c.calls[:0])
	if err := c.each(p, (*savedTable).save); err != nil {
		return fmt.Errorf("store: Checkpoint: %w; the checkpoint is empty", err)
	}
	c.whole = true
	return nil
}

// restore copies the state back.
func (c *Checkpoint) restore(p *phase) error {
	restored := false
	defer func() {
		if !restored { // even when the goroutine is ending
			for _, t := range c.tables {
				t.giveUp()
			}
			*c = Checkpoint{}
		}
	}()
	if err := c.each(p, (*savedTable).restore); err != nil {
		return fmt.Errorf("store: Rollback: %w; the store took the items out of the checkpoint, which is empty now", err)
	}
	restored = true
	return nil
}

// each runs step for every shard, in parallel and to the end: that ctx may end
// meanwhile is no longer looked at.
func (c *Checkpoint) each(p *phase, step func(t *savedTable, shard int)) error {
	c.work, c.cost = c.work[:0], c.cost[:0]
	for i, t := range c.tables {
		shards := len(p.store.tables[i].order)
		for shard := range shards {
			c.work = append(c.work, copyWork{t, shard})
			c.cost = append(c.cost, t.cost(shard))
		}
	}
	if c.task == nil {
		c.task = func(i int) error {
			c.step(c.work[i].table, c.work[i].shard)
			return nil
		}
	}
	c.step, c.shield.Context = step, p
	defer func() { c.step, c.shield.Context = nil, nil }()
	return p.store.run(&c.shield, len(c.work), c.task, c.cost)
}
