package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

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
// For each shard of each table, in order: frames of kind state, whose payloads
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

// A frameKind says what the payload of a frame is.
type frameKind uint8

const (
	frameState frameKind = iota // of the bytes of a shard
	frameShard                  // the digest of a shard
	frameWhole                  // the digest of the store, the number of frames
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An imageFrame is one piece of a snapshot.
type imageFrame struct {
	table, shard uint16
	kind         frameKind
	payload      []byte
}

// frameHeader is what stands before a payload.
type frameHeader [frameHead]byte

// header returns the header of f before a payload of so many bytes, which its checksum
// does not cover yet.
func (f *imageFrame) header(length int) (h frameHeader) {
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

// imageHead is what a snapshot says of its store.
type imageHead struct {
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

func (h *imageHead) encode() []byte {
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

var errHead = errors.New("its head is not one")

func (h *imageHead) decode(b []byte) error {
	in := wire.Reader{Left: b}
	h.epoch = in.Number(8)
	h.tag.At, h.tag.Tick = in.Number(8), in.Number(8)
	copy(h.tag.Chain[:], in.Cut(16))
	h.tag.Program = in.Text()
	for range in.Number(4) {
		h.tables = append(h.tables, readImageTable(&in))
		if in.Failed {
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
		for n := r.Number(4); n > 0 && !r.Failed; n-- {
			c := imageColumn{r.Text(), uint8(r.Number(1)), r.Text()}
			r.Failed = r.Failed || c.kind > 1
			t.columns = append(t.columns, c)
		}
	}
	return t
}

// imageReader reads the parts of a snapshot, and nothing behind it.
type imageReader struct {
	r      io.Reader
	frames uint32
	buf    []byte
}

func (r *imageReader) head() (h imageHead, err error) {
	var start [len(imageMagic) + 4]byte
	if err := r.full(start[:]); err != nil {
		return h, err
	}
	length := binary.LittleEndian.Uint32(start[len(imageMagic):])
	if string(start[:len(imageMagic)]) != imageMagic || length > headBytes {
		return h, errHead
	}
	b, err := io.ReadAll(io.LimitReader(r.r, int64(length)+4))
	if err != nil {
		return h, err
	}
	if len(b) < int(length)+4 {
		return h, io.ErrUnexpectedEOF
	}
	if crc32.Checksum(b[:length], castagnoli) != binary.LittleEndian.Uint32(b[length:]) {
		return h, errChecksum
	}
	return h, h.decode(b[:length])
}

var errChecksum = errors.New("the checksum differs")

// frame reads the next frame, whose payload is good until the one after.
func (r *imageReader) frame() (f imageFrame, err error) {
	var b frameHeader
	if err := r.full(b[:]); err != nil {
		return f, err
	}
	length := binary.LittleEndian.Uint32(b[:])
	if length > frameBytes {
		return f, fmt.Errorf("a frame of %d bytes; the most are %d", length, frameBytes)
	}
	r.buf = slices.Grow(r.buf[:0], int(length))[:length]
	f = imageFrame{
		table: binary.LittleEndian.Uint16(b[4:]), shard: binary.LittleEndian.Uint16(b[6:]),
		kind: frameKind(b[8]), payload: r.buf,
	}
	if err := r.full(f.payload); err != nil {
		return f, err
	}
	h := f.header(len(f.payload))
	if h.cover(f.payload); b != h {
		return f, errChecksum
	}
	r.frames++
	return f, nil
}

// full fills b. A snapshot that ends before its end was cut.
func (r *imageReader) full(b []byte) error {
	_, err := io.ReadFull(r.r, b)
	if err == io.EOF && len(b) > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}
