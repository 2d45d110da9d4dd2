package image

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync/atomic"

	"handloom/internal/digest"
)

// A State is a shard to be written.
type State interface{ DigestTo(h *digest.Hash) }

// Write writes the snapshot of the tables in head to w. state returns the shards of a
// table. Write fails with an [*Error] for items that cannot be read back, and with the
// error of w.
func Write(w io.Writer, head *Header, state func(table, shard int) State) (n int64, err error) {
	out := newWriter()
	go func() {
		defer close(out.full)
		out.encode(head, state)
	}()
	return out.writeTo(w)
}

// A writer makes a snapshot. One goroutine digests and checksums the next run while the
// goroutine of the caller writes the run before it (op=savefile):
//
//	encode   | run 0 | run 1 | run 2 |   ...   | run 0 |
//	                 v       v               ^
//	writeTo          | run 0 .... | run 1 ...|. | run 2 ....
//
// The bytes do not depend on the pace of the two.
type writer struct {
	full      chan *run // to be written; closed after the last
	written   chan *run
	abandoned atomic.Bool // nobody writes any more
	err       error       // of an item that cannot be read back; good once full is closed

	// Of the goroutine that encodes:
	run           *run   // blocks are added to it
	table, of     uint16 // of the blocks: the table, and its shard
	blocks        uint32
	tee           *digest.Tee // makes blocks of the input of a shard's digest
	header        []byte      // of the open block; nil: there is none
	length        int         // of its payload so far, which begins
	first, behind int         // in this part of the run, after so many bytes
}

const (
	runs     = 3
	runBytes = 64 << 10 // are worth being written
	mostMade = runBytes + blockHead + blockBytes
)

// A run is some of the bytes of a snapshot.
type run struct {
	parts  [][]byte // one behind the other
	length int
	made   []byte // the memory of those parts that are copies
	open   bool   // the last part is the end of made
}

// add adds a copy of b, and returns it.
func (r *run) add(b []byte) []byte {
	at := len(r.made)
	if len(b) > cap(r.made)-at {
		// Parts in the memory that there was keep it.
		at, r.open = 0, false
		r.made = make([]byte, 0, min(max(4<<10, 2*cap(r.made), len(b)), mostMade))
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

// lend adds b itself.
func (r *run) lend(b []byte) {
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

// writeTo writes what encode makes.
func (w *writer) writeTo(to io.Writer) (n int64, err error) {
	defer w.giveUp() // when there is an error, or the goroutine ends
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

// giveUp returns when nobody looks at the tables any more.
func (w *writer) giveUp() {
	w.abandoned.Store(true)
	for run := range w.full {
		w.written <- run
	}
}

// encode makes the snapshot.
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
	w.table, w.of = 0, 0
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

// shard makes the blocks of a shard in the same pass as its digest. It returns the
// digest.
func (w *writer) shard(table, shard int, s State) uint64 {
	var h digest.Hash
	w.table, w.of = uint16(table), uint16(shard)
	h.Tee(w.tee)
	s.DigestTo(&h)
	sum := h.Sum()
	h.Flush()
	w.finish(blockState)
	w.block(blockShard, binary.LittleEndian.AppendUint64(nil, sum))
	return sum
}

// payload makes blocks of kind state of the bytes of the tee.
func (w *writer) payload(b []byte, lasts bool) {
	w.start()
	if lasts {
		w.run.lend(b)
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

// start opens a block, unless one is open.
func (w *writer) start() {
	if w.header == nil {
		w.header = w.run.add(make([]byte, blockHead))
		w.first = len(w.run.parts) - 1
		w.behind, w.length = len(w.run.parts[w.first]), 0
	}
}

// finish completes the open block, if there is one.
func (w *writer) finish(kind blockKind) {
	if w.header == nil {
		return
	}
	of := block{table: w.table, shard: w.of, kind: kind}
	h, behind := of.header(w.length), w.behind
	for _, part := range w.run.parts[w.first:] {
		h.cover(part[behind:])
		behind = 0
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
