// Package image has the format of a snapshot of package store: writer, reader, and
// [Inspect], which verifies a snapshot without a store. Package store knows tables and
// items; this package knows the bytes around them.
package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"handloom/internal/digest"
	"handloom/internal/wire"
)

// The format of a snapshot. Everything is little endian.
//
//	magic     "HLSNAP" 0 1
//	head      length u32 | epoch u64 | tag | tables u32 | (table)... | crc u32
//	tag       At u64 | Tick u64 | Chain [16] | Version
//	table     name | first typeId u16 | shards u16 | kind u8 | schema       a text is its length u32, and its bytes
//	          and, if kind has the bit 2, columns u32 | (name | kind u8 | schema)...    1: sparse data
//	block     length u32 | table u16 | shard u16 | kind u8 | 0 [3] | crc u32 | payload, at most 1 MiB
//
// Each shard of each table, in order, has blocks of kind state and then one of kind
// shard. All blocks of kind state are full except the last. Their payloads together are
// the bytes that the digest of the shard hashes: package digest has their form, with
// columns after the items and sparse data after the columns. The block of kind shard
// has the digest, u64. The last block of all is of kind whole: the digest of the store
// u64 and the number of blocks before it u32.
//
// crc is CRC-32C, of the length, table, shard and kind before it and the payload
// after it. A reader that knows no type can verify all of it.
//
// A file of two tables, the first of two shards:
//
//	byte 0           8        12                       12+length
//	     | HLSNAP.. | length | epoch, tag, tables ... | crc | block | block | ...
//
//	     | head | 0 | 0 | 1 | 0 | 0 | 1 | 0 | 1 | 2 |     kinds of blocks
//	            \_________/ \_________/ \_____/
//	              shard 0     shard 1   table 1
//
// A block, and the payloads of a shard's blocks of kind 0 together:
//
//	byte 0        4       6       8      9       12    16          16+length
//	     | length | table | shard | kind | 0 0 0 | crc | payload ... |
//
//	byte 0        8       16         16+8*slots                        +24
//	     | typeId | slots | words ... | freelist, counts, generations | order ... | items ... |
//
// order is the state of Defragment; a StableTable lacks it. After the items there are,
// for each column, the elements, and then, for sparse data, rows u64, as many handles
// and as many values. The last block of a shard and the last of all:
//
//	kind 1, 8 bytes    | digest of the shard |
//	kind 2, 12 bytes   | digest of the store | blocks before u32 |
const (
	magic      = "HLSNAP\x00\x01"
	blockHead  = 16
	blockSum   = 12
	blockBytes = 1 << 20 // max bytes of payload
	headBytes  = 64 << 20
)

type blockKind uint8

const (
	blockState blockKind = iota // bytes of a shard
	blockShard                  // the digest of a shard
	blockWhole                  // the digest of the store, the number of blocks
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type block struct {
	table, shard uint16
	kind         blockKind
	payload      []byte
	sum          uint64 // of the state blocks before it, when read
}

type blockHeader [blockHead]byte

// header returns the header for a payload of length bytes. Its checksum does not cover the
// payload yet.
func (b *block) header(length int) (h blockHeader) {
	binary.LittleEndian.PutUint32(h[:], uint32(length))
	binary.LittleEndian.PutUint16(h[4:], b.table)
	binary.LittleEndian.PutUint16(h[6:], b.shard)
	h[8] = byte(b.kind)
	binary.LittleEndian.PutUint32(h[blockSum:], crc32.Checksum(h[:blockSum], castagnoli))
	return h
}

// cover adds the next bytes of the payload to the checksum.
func (h *blockHeader) cover(b []byte) {
	sum := binary.LittleEndian.Uint32(h[blockSum:])
	binary.LittleEndian.PutUint32(h[blockSum:], crc32.Update(sum, castagnoli, b))
}

type Header struct {
	Epoch  uint64
	Tag    Tag
	Tables []Table
}

// Tag is the position in a log, and the version of the program, that belong to a state.
type Tag struct {
	At, Tick uint64
	Chain    [16]byte
	Version  string
}

type Table struct {
	Name    string
	First   uint16 // typeId
	Shards  uint16
	Kind    uint8 // bits: KindStable, KindColumns
	Schema  string
	Columns []Column
}

const (
	KindStable  = 1 // StableTable
	KindColumns = 2 // has columns or sparse data
)

type Column struct {
	Name   string
	Kind   uint8 // 0: column, 1: sparse data
	Schema string
}

func (h *Header) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, h.Epoch)
	b = binary.LittleEndian.AppendUint64(b, h.Tag.At)
	b = binary.LittleEndian.AppendUint64(b, h.Tag.Tick)
	b = append(b, h.Tag.Chain[:]...)
	b = wire.AppendText(b, h.Tag.Version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.Tables)))
	for _, t := range h.Tables {
		b = wire.AppendText(b, t.Name)
		b = binary.LittleEndian.AppendUint16(b, t.First)
		b = binary.LittleEndian.AppendUint16(b, t.Shards)
		b = append(b, t.Kind)
		b = wire.AppendText(b, t.Schema)
		if t.Kind&KindColumns == 0 {
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Columns)))
		for _, c := range t.Columns {
			b = wire.AppendText(b, c.Name)
			b = append(b, c.Kind)
			b = wire.AppendText(b, c.Schema)
		}
	}
	return b
}

var (
	errMagic    = errors.New("no snapshot of Handloom: invalid header")
	errHead     = errors.New("invalid header")
	errChecksum = errors.New("the checksum differs")
	errEnds     = errors.New("the shard ends within a value")
)

// Minimum bytes of a table and of a column in a header.
const (
	tableBytes  = 4 + 2 + 2 + 1 + 4
	columnBytes = 4 + 1 + 4
)

func (h *Header) decode(b []byte) error {
	in := wire.Reader{Left: b}
	h.Epoch = in.Number(8)
	h.Tag.At, h.Tag.Tick = in.Number(8), in.Number(8)
	copy(h.Tag.Chain[:], in.Cut(16))
	h.Tag.Version = in.Text()
	n := countOf(&in, tableBytes)
	h.Tables = make([]Table, 0, n)
	for range n {
		if h.Tables = append(h.Tables, readTable(&in)); in.Failed {
			break
		}
	}
	if !in.Done() {
		return errHead
	}
	return nil
}

func readTable(r *wire.Reader) Table {
	t := Table{
		Name: r.Text(), First: uint16(r.Number(2)), Shards: uint16(r.Number(2)), Kind: uint8(r.Number(1)), Schema: r.Text(),
	}
	if t.Kind&KindColumns != 0 {
		n := countOf(r, columnBytes)
		t.Columns = make([]Column, 0, n)
		for ; n > 0 && !r.Failed; n-- {
			c := Column{r.Text(), uint8(r.Number(1)), r.Text()}
			r.Failed = r.Failed || c.Kind > 1
			t.Columns = append(t.Columns, c)
		}
	}
	return t
}

// countOf reads a number of entries of at least least bytes.
func countOf(r *wire.Reader, least int) int {
	n := r.Number(4)
	if n > uint64(len(r.Left)/least) {
		r.Failed, r.Left, n = true, nil, 0
	}
	return int(n)
}

// KindName returns "column" or "sparse data".
func (c *Column) KindName() string { return [...]string{"column", "sparse data"}[c.Kind] }

// IsPlacedAs reports whether two tables differ only in fields and columns.
func (t *Table) IsPlacedAs(o *Table) bool {
	return t.Name == o.Name && t.First == o.First && t.Shards == o.Shards && t.Kind&^KindColumns == o.Kind&^KindColumns
}

func (t Table) String() string {
	kind := [...]string{"Table", "StableTable"}[t.Kind&KindStable]
	var b strings.Builder
	fmt.Fprintf(&b, "%s, typeIds %d to %d, %s", kind, t.First, int(t.First)+int(t.Shards)-1, digest.IndentSchema(Clip(t.Schema)))
	for i, c := range t.Columns {
		if b.Len() > 4*maxText {
			fmt.Fprintf(&b, "\n... (%d more)", len(t.Columns)-i)
			break
		}
		kind := [...]string{"column", "optional data"}[c.Kind] // logs have the hash of this text
		fmt.Fprintf(&b, "\n%s %q, %s", kind, Clip(c.Name), digest.IndentSchema(Clip(c.Schema)))
	}
	return b.String()
}

// maxText limits texts in messages, in bytes.
const maxText = 2 << 10

// Clip shortens a text for a message.
func Clip[T string | []byte](text T) T {
	if len(text) <= maxText {
		return text
	}
	return T(fmt.Appendf(nil, "%s... (%d bytes)", text[:maxText], len(text)))
}

// ErrSnapshot is store.ErrSnapshot.
var ErrSnapshot = errors.New("no usable snapshot")

// Error is the place and cause of a fault in a snapshot.
type Error struct {
	Table string // "": the snapshot as a whole
	Shard int
	Block int // number of good blocks before the error
	Err   error
}

func (e *Error) Error() string {
	if e.Table == "" {
		return fmt.Sprintf("%v: block %d: %v", ErrSnapshot, e.Block, e.Err)
	}
	return fmt.Sprintf("%v: table %q, shard %d, block %d: %v", ErrSnapshot, e.Table, e.Shard, e.Block, e.Err)
}

// Unwrap returns [ErrSnapshot] and the cause.
func (e *Error) Unwrap() []error { return []error{ErrSnapshot, e.Err} }
