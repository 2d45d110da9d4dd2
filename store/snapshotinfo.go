package store

import (
	"context"
	"fmt"
	"io"

	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/shard/handle"
)

// SnapshotInfo is what a snapshot says of itself.
type SnapshotInfo struct {
	Tag    Tag
	Epoch  uint64
	Tables []SnapshotTable
	Digest uint64 // of the store, as Store.Digest returned it
	Frames int
}

// SnapshotTable is what a snapshot says of a table.
type SnapshotTable struct {
	Name       string
	Stable     bool // a StableTable
	TypeID     int  // of the first shard
	Shards     int
	Rows       int
	Slots      int
	Bytes      int64  // of the shards
	Schema     string // of the items, a line for each field
	SchemaHash string // for TableOptions.Migrate
	Columns    []SnapshotColumn
}

// SnapshotColumn is what a snapshot says of a column, or of optional data.
type SnapshotColumn struct {
	Name     string
	Optional bool // a [Sparse]
	Schema   string
}

// InspectSnapshot reads what [Checkpoint.WriteTo] or [Store.Snapshot] wrote, without a
// store and without knowing a type, and verifies the checksums and every digest: that
// the bytes are those that were written, not that they are a state. When that fails
// with [ErrSnapshot] the result has what was read until then.
//
// It reads nothing behind the snapshot, and needs 1 MiB of memory.
func InspectSnapshot(r io.Reader) (SnapshotInfo, error) {
	check.Given(r != nil, "store: InspectSnapshot", "io.Reader")
	in := imageReader{ctx: context.Background(), r: r}
	info, at, err := in.inspect()
	if info.Frames = int(in.frames); err != nil {
		at.Frame, at.Err = info.Frames, err
		return info, fmt.Errorf("store: InspectSnapshot: %w", &at)
	}
	return info, nil
}

// inspect reads a whole snapshot, and says where it failed.
func (r *imageReader) inspect() (info SnapshotInfo, at SnapshotError, err error) {
	head, err := r.head()
	if err != nil {
		return info, at, err
	}
	info.Tag, info.Epoch = head.tag, head.epoch
	info.Tables = make([]SnapshotTable, 0, len(head.tables))
	for _, t := range head.tables {
		info.Tables = append(info.Tables, SnapshotTable{
			Name: t.name, Stable: t.kind&1 != 0, TypeID: int(t.first), Shards: int(t.shards),
			Schema: digest.IndentSchema(t.schema), SchemaHash: digest.SchemaHash(t.schema),
		})
		of := &info.Tables[len(info.Tables)-1]
		if len(t.columns) > 0 {
			of.Columns = make([]SnapshotColumn, 0, len(t.columns))
		}
		for _, c := range t.columns {
			of.Columns = append(of.Columns, SnapshotColumn{c.name, c.kind == 1, digest.IndentSchema(c.schema)})
		}
	}
	var whole digest.Hash
	for i := range info.Tables {
		t := &info.Tables[i]
		for shard := range t.Shards {
			sum, err := t.inspect(r, i, shard)
			if err != nil {
				return info, SnapshotError{Table: t.Name, Shard: shard}, err
			}
			whole.Uint64(sum)
		}
	}
	info.Digest = whole.Sum()
	return info, at, r.end(info.Digest)
}

// inspect reads one shard: its words, which tell its rows, and what is behind them.
func (t *SnapshotTable) inspect(r *imageReader, table, shard int) (sum uint64, err error) {
	frames := shardReader{imageReader: r, table: table, shard: shard}
	defer func() { t.Bytes += frames.bytes }()
	in := digest.NewDecoder(frames.next)
	in.Uint64() // the typeId
	slots := in.Count(int(^uint(0)>>1), "slots")
	for range slots {
		if !handle.ID(in.Uint64()).IsProvisional() {
			t.Rows++
		}
		if in.Err() != nil {
			return 0, in.Err()
		}
	}
	t.Slots += slots
	for !frames.ended && in.Err() == nil {
		if _, err := frames.next(); err != nil && !frames.ended {
			return 0, err
		}
	}
	if in.Err() != nil {
		return 0, in.Err()
	}
	return frames.end()
}
