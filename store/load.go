package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"handloom/internal/check"
	"handloom/internal/image"
	"handloom/shard"
)

// ReadCheckpoint reads into c a snapshot that [Checkpoint.WriteTo] or [Store.Snapshot]
// wrote, and verifies checksums, every invariant of every map and the digest of every
// shard. [Store.Rollback] to c then makes it the state of s. Tables are matched by name
// and must have the same kind, typeIds, shards and MinFree; a table that the snapshot
// lacks is empty in c. If an item type has changed, its fields are matched by name (see
// [TableOptions.Migrate]), and Defragment starts over. Columns and sparse data are
// matched by name, too: new ones are zero or empty, missing ones are skipped, and their
// fields are matched as for items. It reads nothing past the snapshot.
//
// It fails with [ErrSnapshot], which includes [ErrSchema], and also with [ErrDuplicate]
// if two items have one key of an [Index]; with the error of r; or with the cause of ctx
// when that ends. c is then empty. For any input it does not panic, takes time in
// proportion to the bytes, and allocates at most a small multiple of them, or more for
// items larger than their encoding. It checks ctx at least every 1 MiB.
//
// Shards longer than 1 MiB are read by the calling goroutine while another, which ends
// before ReadCheckpoint, decodes them, unless Options.Workers is 1 or a type has changed.
// This takes 4 MiB more memory, and up to 4 MiB after a fault may have been read (op=load).
//
// It waits at the gate as Verify does, only to read the tables of s, and does not change
// s.
func (s *Store) ReadCheckpoint(ctx context.Context, r io.Reader, c *Checkpoint) error {
	s.given(ctx, "ReadCheckpoint")
	check.Given(r != nil, "store: ReadCheckpoint", "io.Reader")
	check.Given(c != nil, "store: ReadCheckpoint", "Checkpoint")
	empty, err := s.registered(ctx)
	if err == nil {
		err = c.use()
	}
	if err == nil {
		defer c.busy.Store(false)
		err = c.read(ctx, s, empty, r)
	}
	if err != nil {
		return fmt.Errorf("store: ReadCheckpoint: %w", err)
	}
	return nil
}

// Load replaces the state of the store by the snapshot in r: ReadCheckpoint and Rollback
// without the copy, so items with shared memory need no Clone. Handles of items at the
// save name the same items again, and the epoch continues from the snapshot. The pending
// batch is dropped, and provisional handles of earlier flushes no longer resolve. Drop
// handles issued since the save, as after a Rollback: some will name other items. Items
// of a stable table move to new addresses, so pointers are invalid.
//
// Load holds the store alone, or joins the Frame of its context, after all input is
// verified. Its errors are as for [Store.ReadCheckpoint]; the store is then unchanged.
func (s *Store) Load(ctx context.Context, r io.Reader) error {
	s.given(ctx, "Load")
	check.Given(r != nil, "store: Load", "io.Reader")
	var c Checkpoint
	empty, err := s.registered(ctx)
	if err == nil {
		err = c.read(ctx, s, empty, r)
	}
	if err != nil {
		return fmt.Errorf("store: Load: %w; nothing has changed", err)
	}
	p, err := s.enter(ctx, opRollback)
	if err != nil {
		return err
	}
	defer p.leave()
	if err := c.covers(s); err != nil {
		return fmt.Errorf("store: Load: %w; nothing has changed", err)
	}
	for i, t := range c.tables {
		for sh, m := range t.shards {
			shard.MoveFrom(s.tables[i].order[sh].State(), m)
		}
	}
	return p.rolledBack(c.epoch, c.calls, c.known)
}

// registered returns an empty copy of each table with its snapshot description.
func (s *Store) registered(ctx context.Context) (tables []emptyTable, err error) {
	p, err := s.enter(ctx, opInspect)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	for _, t := range s.tables {
		empty := t.newEmpty()
		tables = append(tables, emptyTable{empty, empty.image()})
	}
	return tables, nil
}

type emptyTable struct {
	*savedTable
	image image.Table
}

// read reads a snapshot into c, which is empty after a failure.
func (c *Checkpoint) read(ctx context.Context, s *Store, tables []emptyTable, r io.Reader) (err error) {
	if c.store != nil && c.store != s {
		return fmt.Errorf("%w: it belongs to another store; use one Checkpoint per store", ErrCheckpoint)
	}
	c.saved = saved{store: s}
	in := image.NewReader(ctx, r)
	defer func() {
		if !c.whole { // also when the goroutine is ending
			c.tables = nil
		}
	}()
	header, err := in.Header()
	if err != nil {
		return readError(ctx, &image.Error{Err: err})
	}
	order, err := match(header.Tables, tables)
	if err != nil {
		return err
	}
	for _, t := range tables {
		c.tables = append(c.tables, t.savedTable)
	}
	c.epoch, c.tag = header.Epoch, header.Tag
	if err := setMissing(tables, order); err != nil {
		return err
	}
	load := loading{in: in, from: order, into: c.tables, ahead: s.options.Workers != 1 && !migrates(order)}
	if err := load.run(); err != nil {
		return readError(ctx, err)
	}
	for _, t := range c.tables {
		if err := t.checkKeys(ctx); err != nil {
			return readError(ctx, &image.Error{Table: t.table.name, Block: in.Blocks(), Err: err})
		}
	}
	c.whole = true
	return nil
}

// readError returns the cause of ctx if that has ended, or else err.
func readError(ctx context.Context, err *image.Error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// newEmpty returns a copy of the table without items.
func (t *table) newEmpty() *savedTable {
	c := t.newCopy()
	for i, sh := range t.order {
		c.shards[i] = shard.EmptyLike(sh.State())
	}
	return c
}

type source struct {
	table int // ordinal of the table in the store
	how   migration
}

// maxFaults is the maximum of table mismatches in one error.
const maxFaults = 4

// match finds the table of the store for each table of the snapshot, or returns the
// mismatches. It stops at a duplicate and at maxFaults.
func match(saved []image.Table, tables []emptyTable) (order []source, err error) {
	places := make(map[string]int, len(tables)) // 1 + ordinal; negative when found
	for i, t := range tables {
		places[t.image.Name] = i + 1
	}
	var faults []error
	for _, table := range saved {
		place := places[table.Name]
		if place < 0 {
			faults = append(faults, fmt.Errorf("table %q: duplicate", image.Clip(table.Name)))
			break
		}
		if place == 0 {
			err = fmt.Errorf("table %q: not in the store; register it with its old type", image.Clip(table.Name))
		} else {
			places[table.Name] = -place
			var how migration
			how, err = tables[place-1].migration(table)
			order = append(order, source{place - 1, how})
		}
		if err == nil {
			continue
		}
		if faults = append(faults, err); len(faults) == maxFaults {
			break
		}
	}
	if len(faults) > 0 {
		return nil, &image.Error{Err: fmt.Errorf("%w: %w", ErrSchema, errors.Join(faults...))}
	}
	return order, nil
}
