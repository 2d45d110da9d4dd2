package world

import (
	"encoding/binary"
	"errors"
	"fmt"

	"handloom/internal/wire"
)

// A record is what one position of the log holds. Everything is little endian; a text
// is its length u32, and its bytes.
//
//	"HL" | version u8 | kind u8 | cell u64 | incarnation u64 | term u32 | tick u64 | time i64 | chain [16]
//	state     tick u64 | n u32 | (typeId u16 | digest u64)...
//	epoch     program | Hz u32 | GOARCH | Go version | schema [16]
//	tick      the input, as package store sealed it
//	handoff   to
//	skip      nothing
//
// chain is that before the record, state what the owner's state was behind the last
// tick that it had applied.
type record struct {
	kind        kind
	cell        uint64 // which world; random
	incarnation uint64 // of the owner: random for each Open
	term        uint32
	tick        uint64 // the number of it; else of the last one, and for skip of the one that is skipped
	time        int64  // of the tick, in nanoseconds since 1970
	chain       chain
	state       stateDigest

	epoch epoch
	input []byte
	to    string
}

type kind uint8

const (
	kindTermStart kind = 1 + iota // another owner, and a term, begins
	kindTick                      // the input of a tick
	kindHandoff                   // the owner ends its term
	kindSkip                      // the tick before, which failed, is to have no input
)

func (k kind) String() string {
	if k == 0 || k > kindSkip {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return [...]string{"epoch", "tick", "handoff", "skip"}[k-1]
}

// An epoch is what an owner says of the program that it runs, whose ticks another
// program would play otherwise.
type epoch struct {
	program, arch, goVersion string
	hz                       uint32
	schema                   chain // of tables, limits and the size of an int
}

// A stateDigest has the digests of some shards behind a tick.
type stateDigest struct {
	tick   uint64
	shards []shardDigest
}

type shardDigest struct {
	typeID uint16
	sum    uint64
}

const (
	recordMagic   = "HL"
	recordVersion = 1

	// mostInput leaves room in a record, which logs take up to 64 MiB of, for its
	// head.
	mostInput = 63 << 20
)

// append appends the bytes of r to b, without the input of a tick, which comes last.
func (r *record) append(b []byte) []byte {
	b = append(b, recordMagic...)
	b = append(b, recordVersion, byte(r.kind))
	b = binary.LittleEndian.AppendUint64(b, r.cell)
	b = binary.LittleEndian.AppendUint64(b, r.incarnation)
	b = binary.LittleEndian.AppendUint32(b, r.term)
	b = binary.LittleEndian.AppendUint64(b, r.tick)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.time))
	b = append(b, r.chain[:]...)
	b = binary.LittleEndian.AppendUint64(b, r.state.tick)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.state.shards)))
	for _, s := range r.state.shards {
		b = binary.LittleEndian.AppendUint16(b, s.typeID)
		b = binary.LittleEndian.AppendUint64(b, s.sum)
	}
	switch r.kind {
	case kindTermStart:
		b = r.epoch.append(b)
	case kindHandoff:
		b = wire.AppendText(b, r.to)
	}
	return b
}

func (e *epoch) append(b []byte) []byte {
	b = wire.AppendText(b, e.program)
	b = binary.LittleEndian.AppendUint32(b, e.hz)
	b = wire.AppendText(b, e.arch)
	b = wire.AppendText(b, e.goVersion)
	return append(b, e.schema[:]...)
}

var (
	errRecord  = errors.New("the bytes are no record")
	errVersion = errors.New("a later version of this package wrote the record")
)

// decode makes r what b holds. The input is part of b.
func (r *record) decode(b []byte) error {
	in := wire.Reader{Left: b}
	magic, version := in.Cut(2), in.Number(1)
	switch {
	case string(magic) != recordMagic || version == 0:
		return errRecord
	case version > recordVersion:
		return errVersion
	}
	*r = record{kind: kind(in.Number(1)), cell: in.Number(8), incarnation: in.Number(8), term: uint32(in.Number(4)), tick: in.Number(8), time: int64(in.Number(8))}
	copy(r.chain[:], in.Cut(16))
	r.state.tick = in.Number(8)
	for range in.Number(4) {
		s := shardDigest{typeID: uint16(in.Number(2)), sum: in.Number(8)}
		if in.Failed {
			break
		}
		r.state.shards = append(r.state.shards, s)
	}
	switch r.kind {
	case kindTermStart:
		r.epoch = readTermStart(&in)
	case kindTick:
		r.input, in.Left = in.Left, nil
	case kindHandoff:
		r.to = in.Text()
	case kindSkip:
	default:
		return errRecord
	}
	if !in.Done() {
		return errRecord
	}
	return nil
}

func readTermStart(r *wire.Reader) (e epoch) {
	e.program, e.hz = r.Text(), uint32(r.Number(4))
	e.arch, e.goVersion = r.Text(), r.Text()
	copy(e.schema[:], r.Cut(16))
	return e
}
