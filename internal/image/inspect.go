package image

import (
	"context"
	"io"

	"handloom/handle"
	"handloom/internal/digest"
)

type Info struct {
	Tag    Tag
	Epoch  uint64
	Tables []TableInfo
	Digest uint64 // as returned by Store.Digest
	Blocks int
}

type TableInfo struct {
	Name       string
	Stable     bool // StableTable
	TypeID     int  // typeId of the first shard
	Shards     int
	Rows       int
	Slots      int
	Bytes      int64  // total of the shards
	Schema     string // schema of the items, one line per field
	SchemaHash string // for TableOptions.Migrate
	Columns    []ColumnInfo
}

type ColumnInfo struct {
	Name     string
	Optional bool // a Sparse
	Schema   string
}

// Inspect reads a snapshot without a store and without its types. It verifies checksums and
// digests: the bytes are the written ones, but may not be a valid state. With an [*Error]
// the result has the parts read before. Inspect does not read past the snapshot. It needs 1
// MiB of memory.
func Inspect(r io.Reader) (Info, error) {
	in := NewReader(context.Background(), r)
	info, at, err := in.inspect()
	if info.Blocks = in.Blocks(); err != nil {
		at.Block, at.Err = info.Blocks, err
		return info, &at
	}
	return info, nil
}

func (r *Reader) inspect() (info Info, at Error, err error) {
	head, err := r.Header()
	if err != nil {
		return info, at, err
	}
	info.Tag, info.Epoch = head.Tag, head.Epoch
	info.Tables = make([]TableInfo, 0, len(head.Tables))
	for _, t := range head.Tables {
		table := TableInfo{
			Name: t.Name, Stable: t.Kind&KindStable != 0, TypeID: int(t.First), Shards: int(t.Shards),
			Schema: digest.IndentSchema(t.Schema), SchemaHash: digest.SchemaHash(t.Schema),
		}
		if len(t.Columns) > 0 {
			table.Columns = make([]ColumnInfo, 0, len(t.Columns))
		}
		for _, c := range t.Columns {
			table.Columns = append(table.Columns, ColumnInfo{c.Name, c.Kind == 1, digest.IndentSchema(c.Schema)})
		}
		info.Tables = append(info.Tables, table)
	}
	var whole digest.Hash
	for i := range info.Tables {
		t := &info.Tables[i]
		for shard := range t.Shards {
			sum, err := t.inspect(r.Shard(i, shard))
			if err != nil {
				return info, Error{Table: t.Name, Shard: shard}, err
			}
			whole.Uint64(sum)
		}
	}
	info.Digest = whole.Sum()
	return info, at, r.End(info.Digest)
}

// inspect reads one shard: its words, which determine the number of rows, and the bytes
// after them.
func (t *TableInfo) inspect(r *ShardReader) (sum uint64, err error) {
	defer func() { t.Bytes += r.bytes }()
	in := digest.NewDecoder(r.Next)
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
	for !r.ended && in.Err() == nil {
		if _, err := r.Next(); err != nil && !r.ended {
			return 0, err
		}
	}
	if in.Err() != nil {
		return 0, in.Err()
	}
	return r.End()
}
