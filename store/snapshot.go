package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"handloom/internal/check"
	"handloom/internal/image"
)

// ErrSnapshot means that items cannot be written to a snapshot and read back, or that the
// input is not a complete, intact snapshot for the store. It is wrapped in a
// [*image.Error].
var ErrSnapshot = image.ErrSnapshot

// ErrSchema is the cause of an [ErrSnapshot]: the tables of the snapshot differ from the store and
// cannot be matched by name. The message has both, the fields that do not fit, and the
// hash for [TableOptions.Migrate].
var ErrSchema = errors.New("its tables differ from the store")

// WriteTo writes the state that c holds to w, for [Store.ReadCheckpoint] of a store with
// the same tables, in another process or on another machine. It does not use the store:
// take a Checkpoint and write it while ticks continue. Equal states result in equal bytes
// on every machine.
//
// It returns the number of bytes. The calling goroutine writes about 1 MiB at a time to w
// while a second goroutine, which ends before WriteTo, encodes the next block; this takes
// some MiB of memory. w may get the memory of the items: as [io.Writer] requires, it must
// not change or keep it.
//
// WriteTo fails with [ErrSnapshot], which names table and field, for items that hold
// pointers, interfaces, functions or channels, and for an item, element or sparse value
// whose encoding exceeds 64 MiB or whose slices and maps nest more than 1,000 deep,
// because it could not be read back. Types of numbers and bools have no limit. WriteTo
// fails with [ErrCheckpoint] when c is empty, and with the error of w. The bytes written
// before a failure are not a snapshot.
func (c *Checkpoint) WriteTo(w io.Writer) (n int64, err error) {
	check.Given(c != nil, "store: WriteTo", "Checkpoint")
	check.Given(w != nil, "store: WriteTo", "io.Writer")
	if err := c.use(); err != nil {
		return 0, fmt.Errorf("store: WriteTo: %w", err)
	}
	defer c.busy.Store(false)
	if !c.whole {
		return 0, fmt.Errorf("store: WriteTo: %w: it is empty: no Checkpoint into it has succeeded", ErrCheckpoint)
	}
	n, err = writeImage(w, c.epoch, c.tag, c.tables)
	if err != nil {
		err = fmt.Errorf("store: WriteTo: %w", err)
	}
	return n, err
}

// Snapshot writes the state of the store to w: Checkpoint and WriteTo without the copy. w
// is called inside the phase, so ticks wait, but readers may continue.
//
// It shares the gate with Read and joins a Read or a Frame. Its errors are as for
// [Checkpoint.WriteTo].
//
// See guide/save-and-load.md.
func (s *Store) Snapshot(ctx context.Context, w io.Writer) error {
	s.given(ctx, "Snapshot")
	check.Given(w != nil, "store: Snapshot", "io.Writer")
	p, err := s.enter(ctx, opInspect)
	if err != nil {
		return err
	}
	defer p.leave()
	defer p.trace("").end()
	_, err = writeImage(w, s.Epoch(), image.Tag{}, s.asSaved())
	if err != nil {
		return fmt.Errorf("store: Snapshot: %w", err)
	}
	return nil
}

// asSaved returns the live state in the form of a copy.
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

func writeImage(w io.Writer, epoch uint64, tag image.Tag, tables []*savedTable) (n int64, err error) {
	header := image.Header{Epoch: epoch, Tag: tag}
	for _, t := range tables {
		if err := t.codable(); err != nil {
			return 0, &image.Error{Table: t.table.name, Err: err}
		}
		header.Tables = append(header.Tables, t.image())
	}
	return image.Write(w, &header, func(table, shard int) image.State { return tables[table].shards[shard] })
}

// image returns the description of the table in a snapshot.
func (c *savedTable) image() image.Table {
	t := c.table
	out := image.Table{Name: t.name, First: t.first, Shards: uint16(len(t.order)), Schema: t.typ.Digest.Schema()}
	if t.lookups.stable != nil {
		out.Kind = image.KindStable
	}
	for _, p := range c.components {
		out.Kind |= image.KindColumns
		column := image.Column{Name: p.name, Schema: p.typ.Digest.Schema()}
		if p.what == isSparse {
			column.Kind = 1
		}
		out.Columns = append(out.Columns, column)
	}
	return out
}

// codable returns an error if items, columns or sparse data cannot be read back.
func (c *savedTable) codable() error {
	err := c.table.typ.Digest.Codable()
	for _, p := range c.components {
		if err == nil {
			err = p.typ.Digest.Codable()
		}
	}
	return err
}
