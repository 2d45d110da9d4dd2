package image

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync/atomic"

	"handloom/internal/digest"
)

type State interface{ DigestTo(h *digest.Hash) }

// Write writes a snapshot of the tables in head to w. state returns the shards of a table.
// Write fails with an [*Error] for items that cannot be decoded, and with the error of w.
func Write(w io.Writer, head *Header, state func(table, shard int) State) (n int64, err error) {
	out := newWriter()
	go func() {
		defer close(out.full)
		out.encode(head, state)
	}()
	return out.writeTo(w)
}

// A writer makes a snapshot. One goroutine digests and checksums a run while the caller's
// goroutine writes the previous run (op=savefile):
//
//	encode   | run 0 | run 1 | run 2 |   ...   | run 0 |
//	                 v       v               ^
//	writeTo          | run 0 .... | run 1 ...|. | run 2 ....
//
// The bytes do not depend on the pace of the goroutines.
type writer struct {
	full      chan *run // runs to write; closed after the last
	written   chan *run
	abandoned atomic.Bool // writing has ended early
	err       error       // error for an item that cannot be decoded; valid once full is closed

	// Fields of the encoding goroutine:
	run            *run
	table, shardOf uint16 // table and shard of the blocks
	blocks         uint32
	tee            *digest.Tee // makes blocks of the bytes of a shard's digest
	header         []byte      // header of the open block; nil if none
	length         int         // payload bytes of the open block so far
	first, offset  int         // start of the payload: part of the run and offset in it
}

const (
	runs     = 3
	runBytes = 64 << 10 // minimum size of a write
	maxMade  = runBytes + blockHead + blockBytes
)

type run struct {
	parts  [][]byte
	length int
	made   []byte // memory of the copied parts
	open   bool   // the last part is the end of made
}

func (r *run) add(b []byte) []byte {
	at := len(r.made)
	if len(b) > cap(r.made)-at {
		// Earlier parts keep the old memory.
		at, r.open = 0, false
		r.made = make([]byte, 0, min(max(4<<10, 2*cap(r.made), len(b)), maxMade))
	}
	r.made = append(r.made, b...)
	if !r.open {
		r.parts, r.open = append(r.parts, r.made[at:at]), true
	}
	last := &r.parts[len(r.parts)-1]
	*last = (*last)[:len(*last)+len(b)]
	r.length += len(b)
	return r.made[at:]
}

func (r *run) share(b []byte) {
	r.parts, r.open = append(r.parts, b), false
	r.length += len(b)
}

func (r *run) reset() {
	clear(r.parts)
	*r = run{parts: r.parts[:0], made: r.made[:0]}
}

func newWriter() *writer {
	w := &writer{run: new(run), full: make(chan *run, runs), written: make(chan *run, runs)}
	for range runs - 1 {
		w.written <- new(run)
	}
	w.tee = digest.NewTee(blockBytes, w.payload)
	return w
}

func (w *writer) writeTo(to io.Writer) (n int64, err error) {
	defer w.abandon() // after an error or when the goroutine ends
	for run := range w.full {
		for _, part := range run.parts {
			some, err := to.Write(part)
			if n += int64(some); err != nil {
				return n, err
			}
		}
		w.written <- run
	}
	return n, w.err
}

// abandon waits until encode no longer reads the tables.
func (w *writer) abandon() {
	w.abandoned.Store(true)
	for run := range w.full {
		w.written <- run
	}
}

func (w *writer) encode(head *Header, state func(table, shard int) State) {
	w.head(head)
	var whole digest.Hash
	for i, t := range head.Tables {
		for shard := range int(t.Shards) {
			if w.abandoned.Load() {
				return
			}
			whole.Uint64(w.shard(i, shard, state(i, shard)))
			if err := w.tee.Err(); err != nil {
				w.err = &Error{Table: t.Name, Shard: shard, Block: int(w.blocks), Err: err}
				return
			}
		}
	}
	end := binary.LittleEndian.AppendUint64(nil, whole.Sum())
	w.table, w.shardOf = 0, 0
	w.block(blockWhole, binary.LittleEndian.AppendUint32(end, w.blocks))
	w.full <- w.run
}

func (w *writer) head(h *Header) {
	b := h.encode()
	w.run.add([]byte(magic))
	w.run.add(binary.LittleEndian.AppendUint32(nil, uint32(len(b))))
	w.run.add(b)
	w.run.add(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(b, castagnoli)))
}

// shard makes the blocks of a shard in one pass with its digest, which it returns.
func (w *writer) shard(table, shard int, s State) uint64 {
	var h digest.Hash
	w.table, w.shardOf = uint16(table), uint16(shard)
	h.Tee(w.tee)
	s.DigestTo(&h)
	sum := h.Sum()
	h.Flush()
	w.finish(blockState)
	w.block(blockShard, binary.LittleEndian.AppendUint64(nil, sum))
	return sum
}

// payload makes state blocks of the bytes of the tee.
func (w *writer) payload(b []byte, lasts bool) {
	w.start()
	if lasts {
		w.run.share(b)
	} else {
		w.run.add(b)
	}
	if w.length += len(b); w.length == blockBytes {
		w.finish(blockState)
	}
}

func (w *writer) block(kind blockKind, payload []byte) {
	w.start()
	w.run.add(payload)
	w.length = len(payload)
	w.finish(kind)
}

func (w *writer) start() {
	if w.header == nil {
		w.header = w.run.add(make([]byte, blockHead))
		w.first = len(w.run.parts) - 1
		w.offset, w.length = len(w.run.parts[w.first]), 0
	}
}

// finish completes the open block, if any.
func (w *writer) finish(kind blockKind) {
	if w.header == nil {
		return
	}
	b := block{table: w.table, shard: w.shardOf, kind: kind}
	h, offset := b.header(w.length), w.offset
	for _, part := range w.run.parts[w.first:] {
		h.cover(part[offset:])
		offset = 0
	}
	copy(w.header, h[:])
	w.header = nil
	w.blocks++
	if w.run.length >= runBytes {
		w.full <- w.run
		w.run = <-w.written
		w.run.reset()
	}
}
