package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/digest"
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
			to := s.tables[i].order[sh].State()
			shard.MoveFrom(to, m)
			to.ReserveMore(max(0, t.table.reserve-to.Len()))
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
	return cmp.Or(context.Cause(ctx), error(err))
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

// missing is the error of a saved table that the store lacks. No program can register the random
// numbers of tasks.
func missing(name string) error {
	if name == randomName {
		return errors.New("random numbers of tasks: set Options.Seed; the seed in the snapshot replaces it")
	}
	return fmt.Errorf("table %q: not in the store; register it with its old type", image.Clip(name))
}

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
			err = missing(table.Name)
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

// loading reads the shards and the end of a snapshot.
type loading struct {
	in    *image.Reader
	from  []source
	into  []*savedTable
	ahead bool // blocks may be read and decoded on two goroutines

	table, shard int // next table of the snapshot, and its next shard
	whole        digest.Hash
}

// migrates reports whether a table has other types than the snapshot. Then functions of the
// program may run, which belong on the goroutine of the caller.
func migrates(from []source) bool {
	return slices.ContainsFunc(from, func(f source) bool {
		return f.how.items != nil || f.how.columns != nil || f.how.data != nil
	})
}

// run uses a second goroutine from the first long shard on; for less than that, starting it
// would take longer than it saves.
func (l *loading) run() *image.Error {
	for ; l.table < len(l.from); l.table, l.shard = l.table+1, 0 {
		from := &l.from[l.table]
		t := l.into[from.table]
		for ; l.shard < len(t.shards); l.shard++ {
			if l.ahead && l.in.IsLong() {
				return l.runAhead()
			}
			if err := l.load(t, &from.how); err != nil {
				return &image.Error{Table: t.table.name, Shard: l.shard, Block: l.in.Blocks(), Err: err}
			}
		}
	}
	if err := l.in.End(l.whole.Sum()); err != nil {
		return &image.Error{Block: l.in.Blocks(), Err: err}
	}
	return nil
}

func (l *loading) runAhead() (err *image.Error) {
	l.ahead = false
	l.in.ReadAhead(func() { err = l.run() })
	return err
}

// load reads one shard.
func (l *loading) load(t *savedTable, how *migration) error {
	m := t.shards[l.shard]
	sum, err := loadShard(l.in.Shard(l.table, l.shard), m, how)
	if err == nil {
		err = t.table.mayBe(m.Map)
	}
	l.whole.Uint64(sum)
	return err
}

// loadShard reads one shard into m, which is empty, and returns its digest.
func loadShard(r *image.ShardReader, m shard.State, how *migration) (uint64, error) {
	in := digest.NewDecoder(r.Next)
	in.Migrate(how.items)
	in.MigrateColumns(how.columns, how.data)
	if m.Load(in); in.Err() != nil {
		return 0, in.Err()
	}
	if in.Remaining() > 0 {
		return 0, fmt.Errorf("%d bytes after the last item", in.Remaining())
	}
	return r.End()
}

// Fields are the fields of an item of an older version of its type, for
// [TableOptions.Migrate]. They are valid during that call.
type Fields digest.Fields

// Read copies the field with the name into *into; "" is the whole item. Structs are
// matched by field name, and integers may be wider than before. A missing field or
// another type is an error that names both.
//
// It takes time in proportion to the item. *into shares no memory with later reads.
func (f Fields) Read(name string, into any) error { return digest.Fields(f).Read(name, into) }

// migration describes how to read a table of a snapshot into the store. The zero
// migration is for equal schemas.
type migration struct {
	items   *digest.Migration
	columns []digest.ColumnPlan
	data    []digest.ColumnPlan // sparse data
}

// migration returns the migration of a snapshot's table to e, or an error if there is no
// such migration.
func (e *emptyTable) migration(saved image.Table) (how migration, err error) {
	if err := e.codable(); err != nil {
		return how, fmt.Errorf("table %q: %w", e.table.name, err)
	}
	if !e.image.IsPlacedAs(&saved) {
		return how, e.differs(saved, "the table has another kind, Shards or place among the typeIds; register tables as before, new ones last")
	}
	if e.image.Schema != saved.Schema {
		if how.items, err = e.itemMigration(saved); err != nil {
			return how, err
		}
	}
	if !slices.Equal(e.image.Columns, saved.Columns) {
		err = e.columnMigrations(saved, &how)
	}
	return how, err
}

func (e *emptyTable) itemMigration(saved image.Table) (*digest.Migration, error) {
	t := e.table
	old, err := digest.ParseSchema(saved.Schema)
	if err != nil {
		return nil, e.differs(saved, err.Error())
	}
	m, hash := t.typ.Digest.From(old), digest.SchemaHash(saved.Schema)
	convert, known := t.migrate[hash]
	switch {
	case convert != nil:
		m.Item = func(old digest.Fields, item unsafe.Pointer) error { return guarded(convert, old, item) }
	case len(m.Mismatches) > 0:
		return nil, e.differs(saved, fmt.Sprintf("%s cannot be converted; TableOptions.Migrate[%q] could", strings.Join(m.Mismatches, ", "), hash))
	case len(m.Lost) > 0 && len(t.migrate) > 0 && !known:
		return nil, e.differs(saved, fmt.Sprintf("%s would be lost, and TableOptions.Migrate has no key %q, got %q; a nil function for the key drops them",
			strings.Join(m.Lost, ", "), hash, slices.Sorted(maps.Keys(t.migrate))))
	}
	return m, nil
}

func guarded(convert func(old Fields, v unsafe.Pointer) error, old digest.Fields, item unsafe.Pointer) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return convert(Fields(old), item)
}

func (e *emptyTable) differs(saved image.Table, why string) error {
	return fmt.Errorf("table %q: %s\nin the snapshot %v\nin the store %v", image.Clip(saved.Name), image.Clip(why), saved, e.image)
}

// columnMigrations sets the migrations of all saved columns and sparse data, matched by
// name.
func (e *emptyTable) columnMigrations(saved image.Table, how *migration) error {
	how.columns, how.data = make([]digest.ColumnPlan, 0, len(saved.Columns)), []digest.ColumnPlan{}
	seen := make(map[string]bool, len(saved.Columns))
	for _, was := range saved.Columns {
		from, err := e.columnMigration(was)
		if seen[was.Name] {
			err = errors.New("duplicate")
		}
		if seen[was.Name] = true; err != nil {
			return e.differs(saved, fmt.Sprintf("%v %q: %v", was.KindName(), image.Clip(was.Name), err))
		}
		list := &how.columns
		if was.Kind != 0 {
			list = &how.data
		}
		*list = append(*list, from)
	}
	return nil
}

func (e *emptyTable) columnMigration(was image.Column) (how digest.ColumnPlan, err error) {
	how.Into = -1
	var into *component
	before := [2]int{} // number of components of both kinds before this one
	for i := range e.image.Columns {
		c := &e.image.Columns[i]
		if c.Name == was.Name {
			into, how.Into = e.components[i], before[c.Kind]
			if c.Kind != was.Kind {
				return how, fmt.Errorf("it is of kind %q in the store; rename that", c.KindName())
			}
			if c.Schema == was.Schema {
				return how, nil
			}
			break
		}
		before[c.Kind]++
	}
	old, err := digest.ParseSchema(was.Schema)
	switch {
	case err != nil:
		return how, err
	case into == nil:
		how.Skip = old
		return how, nil
	}
	how.Migration = into.typ.Digest.From(old)
	if misfits := how.Migration.Mismatches; len(misfits) > 0 {
		return how, fmt.Errorf("%s cannot be converted; rename it or its fields", strings.Join(misfits, ", "))
	}
	return how, nil
}
