package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/internal/image"
	"handloom/shard"
)

// ReadCheckpoint reads into c what [Checkpoint.WriteTo] or [Store.Snapshot] wrote,
// and verifies all of it: checksums, every invariant of every map, the digest of
// every shard. [Store.Rollback] to c makes it the state of s. Tables are matched by
// name and must have the same kind, typeIds, shards and MinFree; a table of s that
// the snapshot does not have is empty in c. Where an item type has changed, its
// fields are matched by name (see [TableOptions.Migrate]), and Defragment of the
// table begins anew. Columns are matched by name as well: one that the snapshot does not
// have is zero, one that the table does not have is passed over, and fields of elements
// are matched as those of items; likewise optional data. Nothing behind the snapshot is read.
//
// It fails with [ErrSnapshot], of which [ErrSchema] is one, and with [ErrDuplicate] as well
// if two items have one key of an [Index]; with the error of r,
// or with the cause of ctx when that ends; c is empty then. Whatever r gives, it
// does not panic, takes time in proportion to the bytes, and allocates no more than a
// small multiple of what was read, which is larger for items that take much more memory
// than they encode to. It asks ctx at least every 1 MiB.
//
// It asks the gate for the tables of s alone, as Verify does, and changes nothing
// of s.
func (s *Store) ReadCheckpoint(ctx context.Context, r io.Reader, c *Checkpoint) error {
	s.given(ctx, "ReadCheckpoint")
	check.Given(r != nil, "store: ReadCheckpoint", "io.Reader")
	check.Given(c != nil, "store: ReadCheckpoint", "Checkpoint")
	empty, err := s.registered(ctx)
	if err == nil {
		err = c.read(ctx, s, empty, r)
	}
	if err != nil {
		return fmt.Errorf("store: ReadCheckpoint: %w", err)
	}
	return nil
}

// Load makes what r holds the state of the store: ReadCheckpoint and Rollback in
// one, without the copy, so that items that share memory need no Clone. Handles
// that named an item when the snapshot was written name it again, and the epoch
// counts on from there; the pending batch is dropped, and names of earlier flushes
// resolve no more. A store that handed out handles since names other items with
// some of them: drop those, as after a Rollback. Items of a stable table move to new
// addresses (a Rollback keeps the addresses of items that live before and after it), so
// a pointer that was kept is no longer good.
//
// It holds the store alone, or joins the Write whose context it is given, once all
// has been read and verified. Its errors are those of [Store.ReadCheckpoint]; the
// store is unchanged then.
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
	s.rolledBack(c.epoch, nil)
	return nil
}

// registered returns a copy of each table there is, before it had items, and what a
// snapshot says of it.
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

// read reads a snapshot into c, which is empty if that fails.
func (c *Checkpoint) read(ctx context.Context, s *Store, tables []emptyTable, r io.Reader) (err error) {
	if c.store != nil && c.store != s {
		return fmt.Errorf("%w: it is of another store; each store takes its own", ErrCheckpoint)
	}
	*c = Checkpoint{store: s}
	in := image.NewReader(ctx, r)
	defer func() {
		if !c.whole { // even when the goroutine is ending
			c.tables = nil
		}
	}()
	head, err := in.Header()
	if err != nil {
		return readError(ctx, &SnapshotError{Err: err})
	}
	order, err := match(head.Tables, tables)
	if err != nil {
		return err
	}
	for _, t := range tables {
		c.tables = append(c.tables, t.savedTable)
	}
	c.epoch, c.tag = head.Epoch, Tag(head.Tag)
	if err := setMissing(tables, order); err != nil {
		return err
	}
	var whole digest.Hash
	for i, from := range order {
		for shard, m := range c.tables[from.table].shards {
			sum, err := loadShard(in.Shard(i, shard), m, &from.how)
			if err == nil {
				err = tables[from.table].table.mayBe(m.Map)
			}
			if err != nil {
				return readError(ctx, &SnapshotError{Table: tables[from.table].image.Name, Shard: shard, Block: in.Blocks(), Err: err})
			}
			whole.Uint64(sum)
		}
	}
	if err := in.End(whole.Sum()); err != nil {
		return readError(ctx, &SnapshotError{Block: in.Blocks(), Err: err})
	}
	for _, t := range c.tables {
		if err := t.checkKeys(ctx); err != nil {
			return readError(ctx, &SnapshotError{Table: t.table.name, Block: in.Blocks(), Err: err})
		}
	}
	c.whole = true
	return nil
}

// readError returns the cause of ctx if that has ended, or what is wrong with a snapshot.
func readError(ctx context.Context, err *SnapshotError) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// newEmpty returns a copy of the table before it had items.
func (t *table) newEmpty() *savedTable {
	c := t.newCopy()
	for i, sh := range t.order {
		c.shards[i] = shard.EmptyLike(sh.State())
	}
	return c
}

// source is a table of a snapshot.
type source struct {
	table int // ordinal of the one that it becomes
	how   migration
}

// mostFaults is how many tables that do not fit an error names.
const mostFaults = 4

// match returns what each table of the snapshot becomes, or what keeps it from
// being one of the store. It looks no further when some do not fit, or one is there twice.
func match(saved []image.Table, tables []emptyTable) (order []source, err error) {
	places := make(map[string]int, len(tables)) // 1 and more, or less when it was found
	for i, t := range tables {
		places[t.image.Name] = i + 1
	}
	var faults []error
	for _, of := range saved {
		place := places[of.Name]
		if place < 0 {
			faults = append(faults, fmt.Errorf("table %q: it is there twice", image.Clip(of.Name)))
			break
		}
		if place == 0 {
			err = fmt.Errorf("table %q: not in the store, register it with the type that it had", image.Clip(of.Name))
		} else {
			places[of.Name] = -place
			var how migration
			how, err = tables[place-1].migration(of)
			order = append(order, source{place - 1, how})
		}
		if err == nil {
			continue
		}
		if faults = append(faults, err); len(faults) == mostFaults {
			break
		}
	}
	if len(faults) > 0 {
		return nil, &SnapshotError{Err: fmt.Errorf("%w: %w", ErrSchema, errors.Join(faults...))}
	}
	return order, nil
}

// loadShard reads one shard into m, which was never used, and returns its digest.
func loadShard(r *image.ShardReader, m shard.State, how *migration) (uint64, error) {
	in := digest.NewDecoder(r.Next)
	in.Migrate(how.items)
	in.MigrateColumns(how.columns, how.data)
	if m.Load(in); in.Err() != nil {
		return 0, in.Err()
	}
	if in.Remaining() > 0 {
		return 0, fmt.Errorf("%d bytes behind the last item", in.Remaining())
	}
	return r.End()
}
