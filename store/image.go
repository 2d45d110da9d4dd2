package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"handloom/internal/digest"
	"handloom/internal/wire"
)

// The format of a snapshot. Everything is little endian.
//
//	magic     "HLSNAP" 0 1
//	head      length u32 | epoch u64 | tag | tables u32 | (table)... | crc u32
//	tag       At u64 | Tick u64 | Chain [16] | Program
//	table     name | first typeId u16 | shards u16 | kind u8 | schema       a text is its length u32, and its bytes
//	          and, if kind has the bit 2, columns u32 | (name | kind u8 | schema)...    1: optional data
//	frame     length u32 | table u16 | shard u16 | kind u8 | 0 [3] | crc u32 | payload, at most 1 MiB
//
// For each shard of each table, in order: frames of kind state, all full but the last, whose payloads
// together are the bytes that the digest of the shard is the hash of (package
// digest has their form; columns are behind the items, and optional data behind them),
// and one of kind shard with the digest, u64. Behind all of them one of kind whole: the digest of the store u64 and the number of frames
// before it u32.
//
// crc is CRC-32C, of the length, table, shard and kind before it and the payload
// behind it. Who knows no type can verify all of it.
//
// A file of two tables, the first of two shards:
//
//	byte 0           8        12                       12+length
//	     | HLSNAP.. | length | epoch, tag, tables ... | crc | frame | frame | ...
//
//	     | head | 0 | 0 | 1 | 0 | 0 | 1 | 0 | 1 | 2 |     kinds of frames
//	            \_________/ \_________/ \_____/
//	              shard 0     shard 1   table 1
//
// A frame, and what the payloads of a shard's frames of kind 0 are together:
//
//	byte 0        4       6       8      9       12    16          16+length
//	     | length | table | shard | kind | 0 0 0 | crc | payload ... |
//
//	byte 0        8       16         16+8*slots                        +24
//	     | typeId | slots | words ... | freelist, counts, generations | order ... | items ... |
//
// order is what Defragment knows; a StableTable has none. Behind the items there are, for
// each column, the elements, and then, for what is optional, rows u64, as many handles and
// as many values. The last of a shard and
// the last of all:
//
//	kind 1, 8 bytes    | digest of the shard |
//	kind 2, 12 bytes   | digest of the store | frames before u32 |
const (
	imageMagic = "HLSNAP\x00\x01"
	frameHead  = 16
	frameSum   = 12      // where the checksum is
	frameBytes = 1 << 20 // of payload, at most
	headBytes  = 64 << 20
)

// A blockKind says what the payload of a frame is.
type blockKind uint8

const (
	frameState blockKind = iota // of the bytes of a shard
	blockShard                  // the digest of a shard
	frameWhole                  // the digest of the store, the number of frames
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An imageBlock is one piece of a snapshot.
type imageBlock struct {
	table, shard uint16
	kind         blockKind
	payload      []byte
}

// frameHeader is what stands before a payload.
type frameHeader [frameHead]byte

// header returns the header of f before a payload of so many bytes, which its checksum
// does not cover yet.
func (f *imageBlock) header(length int) (h frameHeader) {
	binary.LittleEndian.PutUint32(h[:], uint32(length))
	binary.LittleEndian.PutUint16(h[4:], f.table)
	binary.LittleEndian.PutUint16(h[6:], f.shard)
	h[8] = byte(f.kind)
	binary.LittleEndian.PutUint32(h[frameSum:], crc32.Checksum(h[:frameSum], castagnoli))
	return h
}

// cover lets the checksum cover the next bytes of the payload.
func (h *frameHeader) cover(b []byte) {
	sum := binary.LittleEndian.Uint32(h[frameSum:])
	binary.LittleEndian.PutUint32(h[frameSum:], crc32.Update(sum, castagnoli, b))
}

// imageHeader is what a snapshot says of its store.
type imageHeader struct {
	epoch  uint64
	tag    Tag
	tables []imageTable
}

// imageTable is what a snapshot says of a table.
type imageTable struct {
	name   string
	first  uint16
	shards uint16
	kind   uint8 // 1: stable, 2: with columns or optional data
	schema string

	columns []imageColumn
}

// imageColumn is what a snapshot says of a column, or of optional data.
type imageColumn struct {
	name   string
	kind   uint8 // 0: a column, 1: optional data
	schema string
}

const withColumns = 2 // a bit of imageTable.kind

func (h *imageHeader) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, h.epoch)
	b = binary.LittleEndian.AppendUint64(b, h.tag.At)
	b = binary.LittleEndian.AppendUint64(b, h.tag.Tick)
	b = append(b, h.tag.Chain[:]...)
	b = wire.AppendText(b, h.tag.Program)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.tables)))
	for _, t := range h.tables {
		b = wire.AppendText(b, t.name)
		b = binary.LittleEndian.AppendUint16(b, t.first)
		b = binary.LittleEndian.AppendUint16(b, t.shards)
		b = append(b, t.kind)
		b = wire.AppendText(b, t.schema)
		if t.kind&withColumns == 0 {
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.columns)))
		for _, c := range t.columns {
			b = wire.AppendText(b, c.name)
			b = append(b, c.kind)
			b = wire.AppendText(b, c.schema)
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

// Fewest bytes of a table and of a column in a header.
const (
	tableBytes  = 4 + 2 + 2 + 1 + 4
	columnBytes = 4 + 1 + 4
)

func (h *imageHeader) decode(b []byte) error {
	in := wire.Reader{Left: b}
	h.epoch = in.Number(8)
	h.tag.At, h.tag.Tick = in.Number(8), in.Number(8)
	copy(h.tag.Chain[:], in.Cut(16))
	h.tag.Program = in.Text()
	n := countOf(&in, tableBytes)
	h.tables = make([]imageTable, 0, n)
	for range n {
		if h.tables = append(h.tables, readImageTable(&in)); in.Failed {
			break
		}
	}
	if !in.Done() {
		return errHead
	}
	return nil
}

func readImageTable(r *wire.Reader) imageTable {
	t := imageTable{
		name: r.Text(), first: uint16(r.Number(2)), shards: uint16(r.Number(2)), kind: uint8(r.Number(1)), schema: r.Text(),
	}
	if t.kind&withColumns != 0 {
		n := countOf(r, columnBytes)
		t.columns = make([]imageColumn, 0, n)
		for ; n > 0 && !r.Failed; n-- {
			c := imageColumn{r.Text(), uint8(r.Number(1)), r.Text()}
			r.Failed = r.Failed || c.kind > 1
			t.columns = append(t.columns, c)
		}
	}
	return t
}

// countOf takes how many parts of at least least bytes follow.
func countOf(r *wire.Reader, least int) int {
	n := r.Number(4)
	if n > uint64(len(r.Left)/least) {
		r.Failed, r.Left, n = true, nil, 0
	}
	return int(n)
}

// imageReader reads the parts of a snapshot, and nothing behind it.
type imageReader struct {
	ctx    context.Context
	r      io.Reader
	frames uint32
	buf    []byte
	ahead  *imageBlock // was read, and is the next one
}

// readAtOnce is how much memory is made for bytes before they have been read: a length
// alone is believed no further.
const readAtOnce = 64 << 10

// read appends the next n bytes to b.
func (r *imageReader) read(b []byte, n int) ([]byte, error) {
	for all := len(b) + n; len(b) < all; {
		if r.ctx.Err() != nil {
			return b, context.Cause(r.ctx)
		}
		some := min(all-len(b), max(cap(b)-len(b), len(b), readAtOnce), frameBytes)
		had := len(b)
		if cap(b)-had < some {
			b = append(make([]byte, 0, min(all, max(2*had, had+some))), b...)
		}
		n, err := io.ReadFull(r.r, b[had:had+some])
		b = b[:had+n]
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // a snapshot that ends before its end was cut
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

func (r *imageReader) head() (h imageHeader, err error) {
	start, err := r.read(nil, len(imageMagic)+4)
	magic := string(start[:min(len(start), len(imageMagic))])
	switch {
	case strings.HasPrefix(imageMagic, magic):
	case strings.HasPrefix(magic, imageMagic[:6]):
		return h, fmt.Errorf("format of the snapshot, got version %d, want %d", magic[len(magic)-1], imageMagic[7])
	default:
		return h, errMagic
	}
	if err != nil {
		return h, err
	}
	length := binary.LittleEndian.Uint32(start[len(imageMagic):])
	if length > headBytes {
		return h, errHead
	}
	b, err := r.read(nil, int(length)+4)
	if err != nil {
		return h, err
	}
	if crc32.Checksum(b[:length], castagnoli) != binary.LittleEndian.Uint32(b[length:]) {
		return h, errChecksum
	}
	return h, h.decode(b[:length])
}

// frame reads the next frame, whose payload is good until the one after.
func (r *imageReader) frame() (f imageBlock, err error) {
	if r.ahead != nil {
		f, r.ahead = *r.ahead, nil
		return f, nil
	}
	b, err := r.read(r.buf[:0], frameHead)
	if r.buf = b; err != nil {
		return f, err
	}
	start := frameHeader(b)
	length := binary.LittleEndian.Uint32(b)
	if length > frameBytes {
		return f, fmt.Errorf("a frame of %d bytes; the most are %d", length, frameBytes)
	}
	f = imageBlock{
		table: binary.LittleEndian.Uint16(b[4:]), shard: binary.LittleEndian.Uint16(b[6:]), kind: blockKind(b[8]),
	}
	if r.buf, err = r.read(b[:0], int(length)); err != nil {
		return f, err
	}
	f.payload = r.buf
	h := f.header(len(f.payload))
	if h.cover(f.payload); start != h {
		return f, errChecksum
	}
	r.frames++
	return f, nil
}

// shardReader reads the frames of kind state of one shard, and takes their digest. All
// but the last one are full, so that what spans frames is long.
type shardReader struct {
	*imageReader
	table, shard int
	sum          digest.Hash
	bytes        int64
	ended        bool
}

// next returns the payload of the next one, which is good until the one after, and an
// error when there is none.
func (r *shardReader) next() ([]byte, error) {
	if r.ended {
		return nil, errEnds
	}
	f, err := r.frame()
	switch {
	case err != nil:
		return nil, err
	case f.kind == blockShard && r.bytes > 0:
		r.ahead, r.ended = &f, true
		return nil, errEnds
	}
	// A frame without a payload would let a loop go on for nothing.
	if int(f.table) != r.table || int(f.shard) != r.shard || f.kind != frameState || len(f.payload) == 0 {
		return nil, f.unexpected(r.table, r.shard, frameState)
	}
	r.sum.Bytes(f.payload)
	r.bytes += int64(len(f.payload))
	r.ended = len(f.payload) < frameBytes
	return f.payload, nil
}

// end reads the frame with the digest of the shard, and returns that.
func (r *shardReader) end() (uint64, error) {
	f, err := r.blockOf(r.table, r.shard, blockShard)
	if err != nil {
		return 0, err
	}
	sum := r.sum.Sum()
	if len(f.payload) != 8 || binary.LittleEndian.Uint64(f.payload) != sum {
		return 0, fmt.Errorf("its digest is %x, and should be %x", sum, clip(f.payload))
	}
	return sum, nil
}
