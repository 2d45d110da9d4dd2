package image

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"handloom/internal/digest"
)

// Reader reads a snapshot in order: header, shards, end. It does not read past the end.
type Reader struct {
	ctx    context.Context
	r      io.Reader
	blocks uint32 // good blocks that were taken
	buf    []byte
	sum    digest.Hash // digest of the state blocks since the last block of another kind
	ahead  *block      // next block, already taken
	failed error       // error of the next block, already read
	queue  *queue      // inside ReadAhead
}

// NewReader returns a Reader of the snapshot in r. It checks ctx before each read.
func NewReader(ctx context.Context, r io.Reader) *Reader { return &Reader{ctx: ctx, r: r} }

func (r *Reader) Blocks() int { return int(r.blocks) }

// readAtOnce limits the memory allocated before bytes were read; the length alone is not
// trusted further.
const readAtOnce = 64 << 10

func (r *Reader) read(b []byte, n int) ([]byte, error) {
	for all := len(b) + n; len(b) < all; {
		if r.ctx.Err() != nil {
			return b, context.Cause(r.ctx)
		}
		some := min(all-len(b), max(cap(b)-len(b), len(b), readAtOnce), blockBytes)
		had := len(b)
		if cap(b)-had < some {
			b = append(make([]byte, 0, max(2*had, had+some)), b...)
		}
		n, err := io.ReadFull(r.r, b[had:had+some])
		b = b[:had+n]
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // the snapshot was truncated
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

func (r *Reader) Header() (h Header, err error) {
	start, err := r.read(nil, len(magic)+4)
	got := string(start[:min(len(start), len(magic))])
	switch {
	case len(start) == 0 && errors.Is(err, io.ErrUnexpectedEOF):
		return h, fmt.Errorf("no snapshot of Handloom: no bytes: %w", err)
	case strings.HasPrefix(magic, got):
	case strings.HasPrefix(got, magic[:6]):
		return h, fmt.Errorf("format of the snapshot, got version %d, want %d", got[len(got)-1], magic[7])
	default:
		return h, errMagic
	}
	if err != nil {
		return h, err
	}
	length := binary.LittleEndian.Uint32(start[len(magic):])
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

// block returns the next block. Its payload is valid until the next call.
func (r *Reader) block() (b block, err error) {
	switch {
	case r.ahead != nil:
		b, r.ahead = *r.ahead, nil
		return b, nil
	case r.failed != nil:
		return b, r.failed
	case r.queue != nil:
		b, err = r.queue.next()
	default:
		b, r.buf, err = r.readBlock(r.buf)
	}
	if err == nil {
		r.blocks++
	}
	return b, err
}

// IsLong reads the next block and reports whether it is full, which all blocks of a long
// shard are except the last.
func (r *Reader) IsLong() bool {
	b, err := r.block()
	if err != nil {
		r.failed = err
		return false
	}
	r.ahead = &b
	return b.kind == blockState && len(b.payload) == blockBytes
}

// nearBytes is the number of bytes read, checked and hashed at a time: small enough for a
// cache near the processor (op=load).
const nearBytes = 128 << 10

// readBlock reads and checks a block, with its payload in memory or, if that is too small, in
// new memory, which it returns.
func (r *Reader) readBlock(memory []byte) (b block, payload []byte, err error) {
	head, err := r.read(memory[:0], blockHead)
	if err != nil {
		return b, head, err
	}
	start := blockHeader(head)
	length := binary.LittleEndian.Uint32(head)
	if length > blockBytes {
		return b, head, fmt.Errorf("block of %d bytes, want at most %d", length, blockBytes)
	}
	b = block{
		table: binary.LittleEndian.Uint16(head[4:]), shard: binary.LittleEndian.Uint16(head[6:]), kind: blockKind(head[8]),
	}
	h := b.header(int(length))
	b.payload = head[:0]
	for had := 0; had < int(length); had = len(b.payload) {
		if b.payload, err = r.read(b.payload, min(int(length)-had, nearBytes)); err != nil {
			return b, b.payload, err
		}
		h.cover(b.payload[had:])
		if b.kind == blockState {
			r.sum.Bytes(b.payload[had:])
		}
	}
	if start != h {
		return b, b.payload, errChecksum
	}
	if b.kind != blockState {
		b.sum, r.sum = r.sum.Sum(), digest.Hash{}
	}
	return b, b.payload, nil
}

// ShardReader reads the state blocks of one shard. All except the last are full,
// so a value that spans blocks is long.
type ShardReader struct {
	r            *Reader
	table, shard int
	bytes        int64
	ended        bool
}

func (r *Reader) Shard(table, shard int) *ShardReader {
	return &ShardReader{r: r, table: table, shard: shard}
}

// Next returns the payload of the next block, valid until the next call. It fails after the
// last.
func (r *ShardReader) Next() ([]byte, error) {
	if r.ended {
		return nil, errEnds
	}
	f, err := r.r.block()
	switch {
	case err != nil:
		return nil, err
	case f.kind == blockShard && r.bytes > 0:
		r.r.ahead, r.ended = &f, true
		return nil, errEnds
	}
	// Blocks without payload could keep a loop busy forever.
	if int(f.table) != r.table || int(f.shard) != r.shard || f.kind != blockState || len(f.payload) == 0 {
		return nil, f.unexpected(r.table, r.shard, blockState)
	}
	r.bytes += int64(len(f.payload))
	r.ended = len(f.payload) < blockBytes
	return f.payload, nil
}

// End reads the block with the digest of the shard and returns the digest.
func (r *ShardReader) End() (uint64, error) {
	f, err := r.r.blockOf(r.table, r.shard, blockShard)
	if err != nil {
		return 0, err
	}
	if len(f.payload) != 8 || binary.LittleEndian.Uint64(f.payload) != f.sum {
		return 0, fmt.Errorf("digest of the shard: got %x, want %x", f.sum, Clip(f.payload))
	}
	return f.sum, nil
}

func (r *Reader) blockOf(table, shard int, kind blockKind) (block, error) {
	f, err := r.block()
	if err != nil {
		return block{}, err
	}
	if int(f.table) != table || int(f.shard) != shard || f.kind != kind {
		return block{}, f.unexpected(table, shard, kind)
	}
	return f, nil
}

func (f *block) unexpected(table, shard int, kind blockKind) error {
	return fmt.Errorf("block kind=%d table=%d shard=%d bytes=%d, want kind=%d table=%d shard=%d",
		f.kind, f.table, f.shard, len(f.payload), kind, table, shard)
}

// End reads and checks the last block. whole is the digest of the store.
func (r *Reader) End(whole uint64) error {
	blocks := r.blocks
	f, err := r.blockOf(0, 0, blockWhole)
	if err != nil {
		return err
	}
	if len(f.payload) != 12 || binary.LittleEndian.Uint64(f.payload) != whole || binary.LittleEndian.Uint32(f.payload[8:]) != blocks {
		return fmt.Errorf("digest of the store after %d blocks: got %x, want %x", blocks, whole, Clip(f.payload))
	}
	return nil
}
