package store

import (
	"context"
	"fmt"
	"io"

	"handloom/internal/check"
	"handloom/internal/image"
)

// ErrSnapshot is what writing and reading snapshots returns, wrapped in a
// [*SnapshotError], when items cannot be written so that they can be read back, or
// when what is read is not a whole, undamaged snapshot of such a store.
var ErrSnapshot = image.ErrSnapshot

// ErrSchema is the [ErrSnapshot] of a snapshot whose tables are not those of the
// store, and do not become them by name: the message has both, names the fields that
// do not fit, and has the hash for [TableOptions.Migrate].
var ErrSchema = fmt.Errorf("%w: its tables are not those of the store", ErrSnapshot)

// SnapshotError says where a snapshot is of no use.
type SnapshotError struct {
	Table string // "": the snapshot as a whole
	Shard int    // of the table
	Block int    // number of valid blocks before the fault
	Err   error
}

func (e *SnapshotError) Error() string { return (*image.Error)(e).Error() }

// Unwrap returns [ErrSnapshot] and the cause.
func (e *SnapshotError) Unwrap() []error { return []error{ErrSnapshot, e.Err} }

// Tag is what the owner of a log keeps with a state: how far in the log it is, and
// by which program.
type Tag struct {
	At, Tick uint64
	Chain    [16]byte
	Version  string
}

// Tag returns what [Checkpoint.SetTag] set, or what ReadCheckpoint read.
func (c *Checkpoint) Tag() Tag { return c.tag }

// SetTag makes t part of what WriteTo writes. Checkpoint and Rollback leave it
// alone.
func (c *Checkpoint) SetTag(t Tag) { c.tag = t }

// WriteTo writes the state that c holds to w, so that [Store.ReadCheckpoint] of a
// store with the same tables, in another process or on another machine, reads it
// back. It looks at no store: take a Checkpoint, which costs little more than
// copying the bytes, and write it while ticks go on. Equal states are equal bytes,
// on every machine.
//
// It returns the number of bytes. The goroutine that asks calls w, with little more than
// 1 MiB at a time, and another one, which ends before WriteTo does, encodes meanwhile what
// comes next; it takes some MiB of memory. What w is given may be the memory of the items:
// as [io.Writer] says, w must neither change nor keep it.
//
// WriteTo fails with [ErrSnapshot], naming table and field, for items that hold pointers,
// interfaces, functions or channels. An item, an element of a column or a value of optional
// data has two limits: an encoding of 64 MiB, and slices and maps that nest 1,000 deep.
// Beyond them WriteTo fails with [ErrSnapshot], too, because nothing could read it back; a
// type that consists of numbers and bools alone has no limit. WriteTo fails with
// [ErrCheckpoint] when c is empty, and with the error of w. What w got until then is no
// snapshot.
func (c *Checkpoint) WriteTo(w io.Writer) (n int64, err error) {
	check.Given(c != nil, "store: WriteTo", "Checkpoint")
	check.Given(w != nil, "store: WriteTo", "io.Writer")
	if !c.whole {
		return 0, fmt.Errorf("store: WriteTo: %w: it is empty, for no Checkpoint into it has succeeded", ErrCheckpoint)
	}
	n, err = writeImage(w, c.epoch, c.tag, c.tables)
	if err != nil {
		err = fmt.Errorf("store: WriteTo: %w", err)
	}
	return n, err
}

// Snapshot writes the state of the store to w: Checkpoint and WriteTo in one, for
// a store that may stand still meanwhile, without the copy. What w does, it does
// inside the phase: readers may go on, ticks wait.
//
// It shares the gate with Read and joins a Read or a Write. Its errors are those
// of [Checkpoint.WriteTo].
//
// The guide's page is guide/save-and-load.md.
func (s *Store) Snapshot(ctx context.Context, w io.Writer) error {
	s.given(ctx, "Snapshot")
	check.Given(w != nil, "store: Snapshot", "io.Writer")
	p, err := s.enter(ctx, opInspect)
	if err != nil {
		return err
	}
	defer p.leave()
	defer p.trace("").end()
	_, err = writeImage(w, s.Epoch(), Tag{}, s.asSaved())
	if err != nil {
		return fmt.Errorf("store: Snapshot: %w", err)
	}
	return nil
}

// asSaved returns the state itself in the form of a copy.
func (s *Store) asSaved() []*savedTable {
	tables := make([]*savedTable, len(s.tables))
	for i, t := range s.tables {
		tables[i] = t.newCopy()
		for shard, sh := range t.order {
			tables[i].shards[shard] = sh.State()
		}
	}
	return tables
}

// writeImage writes the snapshot of tables.
func writeImage(w io.Writer, epoch uint64, tag Tag, tables []*savedTable) (n int64, err error) {
	head := image.Header{Epoch: epoch, Tag: image.Tag(tag)}
	for _, t := range tables {
		if err := t.codable(); err != nil {
			return 0, &SnapshotError{Table: t.table.name, Err: err}
		}
		head.Tables = append(head.Tables, t.image())
	}
	n, err = image.Write(w, &head, func(table, shard int) image.State { return tables[table].shards[shard] })
	if at, ok := err.(*image.Error); ok {
		err = (*SnapshotError)(at)
	}
	return n, err
}

// image returns the description of the table in a snapshot.
func (c *savedTable) image() image.Table {
	t := c.table
	of := image.Table{Name: t.name, First: t.first, Shards: uint16(len(t.order)), Schema: t.typ.Digest.Schema()}
	if t.lookups.stable != nil {
		of.Kind = image.KindStable
	}
	for _, p := range c.parts {
		of.Kind |= image.KindColumns
		column := image.Column{Name: p.name, Schema: p.typ.Digest.Schema()}
		if p.what == isOptional {
			column.Kind = 1
		}
		of.Columns = append(of.Columns, column)
	}
	return of
}

// codable returns what keeps the items, or what lies beside them, from being read back.
func (c *savedTable) codable() error {
	err := c.table.typ.Digest.Codable()
	for _, p := range c.parts {
		if err == nil {
			err = p.typ.Digest.Codable()
		}
	}
	return err
}
