package store

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync/atomic"

	"handloom/internal/digest"
	"handloom/shard"
)

// imageWriter makes a snapshot. Digests and checksums of what comes next are made by a
// goroutine, while that of the caller writes what has them (op=savefile):
//
//	encode   | run 0 | run 1 | run 2 |   ...   | run 0 |
//	                 v       v               ^
//	writeTo          | run 0 .... | run 1 ...|. | run 2 ....
//
// The bytes are the same however the two keep pace.
type imageWriter struct {
	full      chan *imageRun // to be written; closed behind the last
	written   chan *imageRun
	abandoned atomic.Bool // nobody writes any more
	err       error       // of an item that cannot be read back; good once full is closed

	// Of the goroutine that encodes:
	run           *imageRun // that frames are added to
	table, of     uint16    // of the frames: the table, and the shard of it
	frames        uint32
	tee           *digest.Tee // makes frames of what the digest of a shard is given
	header        []byte      // of the frame that is being made; nil: there is none
	length        int         // of its payload so far, which begins
	first, behind int         // in this part of the run, behind so many bytes
}

const (
	runs     = 3
	runBytes = 64 << 10 // are worth being written
	mostMade = runBytes + frameHead + frameBytes
)

// imageRun is some of the bytes of a snapshot.
type imageRun struct {
	parts  [][]byte // one behind the other
	length int
	made   []byte // the memory of those parts that are copies
	open   bool   // the last part is the end of made
}

// add adds a copy of b, and returns it.
func (r *imageRun) add(b []byte) []byte {
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
func (r *imageRun) lend(b []byte) {
	r.parts, r.open = append(r.parts, b), false
	r.length += len(b)
}

func (r *imageRun) reset() {
	clear(r.parts)
	*r = imageRun{parts: r.parts[:0], made: r.made[:0]}
}

func newImageWriter() *imageWriter {
	w := &imageWriter{run: new(imageRun), full: make(chan *imageRun, runs), written: make(chan *imageRun, runs)}
	for range runs - 1 {
		w.written <- new(imageRun)
	}
	w.tee = digest.NewTee(frameBytes, w.payload)
	return w
}

// writeTo writes what encode makes.
func (w *imageWriter) writeTo(to io.Writer) (n int64, err error) {
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
func (w *imageWriter) giveUp() {
	w.abandoned.Store(true)
	for run := range w.full {
		w.written <- run
	}
}

// encode makes the snapshot of tables.
func (w *imageWriter) encode(head *imageHeader, tables []*savedTable) {
	w.head(head)
	var whole digest.Hash
	for i, t := range tables {
		for shard, m := range t.shards {
			if w.abandoned.Load() {
				return
			}
			whole.Uint64(w.shard(i, shard, m))
			if err := w.tee.Err(); err != nil {
				w.err = &SnapshotError{Table: t.table.name, Shard: shard, Frame: int(w.frames), Err: err}
				return
			}
		}
	}
	end := binary.LittleEndian.AppendUint64(nil, whole.Sum())
	w.table, w.of = 0, 0
	w.frame(frameWhole, binary.LittleEndian.AppendUint32(end, w.frames))
	w.full <- w.run
}

func (w *imageWriter) head(h *imageHeader) {
	b := h.encode()
	w.run.add([]byte(imageMagic))
	w.run.add(binary.LittleEndian.AppendUint32(nil, uint32(len(b))))
	w.run.add(b)
	w.run.add(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(b, castagnoli)))
}

// shard makes the frames of a shard, in the pass that makes its digest, and returns
// that.
func (w *imageWriter) shard(table, shard int, m shard.State) uint64 {
	var h digest.Hash
	w.table, w.of = uint16(table), uint16(shard)
	h.Tee(w.tee)
	m.DigestTo(&h)
	sum := h.Sum()
	h.Flush()
	w.finish(frameState)
	w.frame(blockShard, binary.LittleEndian.AppendUint64(nil, sum))
	return sum
}

// payload makes frames of kind state of what the tee gives away.
func (w *imageWriter) payload(b []byte, lasts bool) {
	w.start()
	if lasts {
		w.run.lend(b)
	} else {
		w.run.add(b)
	}
	if w.length += len(b); w.length == frameBytes {
		w.finish(frameState)
	}
}

func (w *imageWriter) frame(kind blockKind, payload []byte) {
	w.start()
	w.run.add(payload)
	w.length = len(payload)
	w.finish(kind)
}

// start starts a frame, unless there is one.
func (w *imageWriter) start() {
	if w.header == nil {
		w.header = w.run.add(make([]byte, frameHead))
		w.first = len(w.run.parts) - 1
		w.behind, w.length = len(w.run.parts[w.first]), 0
	}
}

// finish finishes the frame, if there is one.
func (w *imageWriter) finish(kind blockKind) {
	if w.header == nil {
		return
	}
	of := imageBlock{table: w.table, shard: w.of, kind: kind}
	h, behind := of.header(w.length), w.behind
	for _, part := range w.run.parts[w.first:] {
		h.cover(part[behind:])
		behind = 0
	}
	copy(w.header, h[:])
	w.header = nil
	w.frames++
	if w.run.length >= runBytes {
		w.full <- w.run
		w.run = <-w.written
		w.run.reset()
	}
}
