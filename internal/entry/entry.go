// Package entry has the formats of package world: log records, the chain over them, and the
// trailer of snapshots.
package entry

import (
	"encoding/binary"
	"errors"
	"fmt"

	"handloom/internal/wire"
)

// A Record is the content of one position of the log. Everything is little endian; a text
// is its length u32, and its bytes.
//
//	"HL" | version u8 | kind u8 | cell u64 | incarnation u64 | term u32 | tick u64 | time i64 | chain [16]
//	          | idle u32
//	state     tick u64 | n u32 | (typeId u16 | digest u64)...
//	epoch     program | Hz u32 | GOARCH | Go version | schema [16]
//	tick      the input, as package store sealed it
//	handoff   to | wait i64
//	skip      nothing
//	idle      nothing
//
// chain is the chain before the record; state is the leader's state after the last tick that
// it had applied.
type Record struct {
	Kind        Kind
	Cell        uint64 // ID of the world; random
	Incarnation uint64 // the leader's; random for each Open
	Term        uint32
	Tick        uint64 // of this tick, else the last tick; for skip the skipped tick
	Time        int64  // Tick.Time, in nanoseconds since 1970
	Chain       Chain
	Idle        uint32 // ticks without input since the record before, at most MaxIdle
	State       StateDigest

	Start TermStart
	Input []byte
	To    string
	Wait  int64 // time of a handoff in nanoseconds that other versions leave to To
}

type Kind uint8

const (
	KindTermStart Kind = 1 + iota // start of a term with another leader
	KindTick
	KindHandoff // end of the leader's term
	KindSkip    // no input for the previous tick, which failed
	KindIdle    // no tick of its own
)

func (k Kind) String() string {
	if k == 0 || k > KindIdle {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return [...]string{"epoch", "tick", "handoff", "skip", "idle"}[k-1]
}

// A TermStart describes the program of a leader. Other programs may compute ticks
// differently.
type TermStart struct {
	Version, Arch, Go string
	Hz                uint32
	Schema            Chain // of tables, limits and the size of an int
}

type StateDigest struct {
	Tick   uint64
	Shards []ShardDigest
}

type ShardDigest struct {
	TypeID uint16
	Sum    uint64
}

const (
	recordMagic   = "HL"
	recordVersion = 2

	// MaxInput is the maximum size of input in bytes. Logs take records of 64 MiB, header
	// included.
	MaxInput = 63 << 20

	// MaxIdle is the maximum number of ticks without input between two records.
	MaxIdle = 1 << 16
)

// Append appends r to b, without the input of a tick, which comes last.
func (r *Record) Append(b []byte) []byte {
	b = append(b, recordMagic...)
	b = append(b, recordVersion, byte(r.Kind))
	b = binary.LittleEndian.AppendUint64(b, r.Cell)
	b = binary.LittleEndian.AppendUint64(b, r.Incarnation)
	b = binary.LittleEndian.AppendUint32(b, r.Term)
	b = binary.LittleEndian.AppendUint64(b, r.Tick)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Time))
	b = append(b, r.Chain[:]...)
	b = binary.LittleEndian.AppendUint32(b, r.Idle)
	b = binary.LittleEndian.AppendUint64(b, r.State.Tick)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.State.Shards)))
	for _, s := range r.State.Shards {
		b = binary.LittleEndian.AppendUint16(b, s.TypeID)
		b = binary.LittleEndian.AppendUint64(b, s.Sum)
	}
	switch r.Kind {
	case KindTermStart:
		b = r.Start.append(b)
	case KindHandoff:
		b = wire.AppendText(b, r.To)
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Wait))
	}
	return b
}

func (e *TermStart) append(b []byte) []byte {
	b = wire.AppendText(b, e.Version)
	b = binary.LittleEndian.AppendUint32(b, e.Hz)
	b = wire.AppendText(b, e.Arch)
	b = wire.AppendText(b, e.Go)
	return append(b, e.Schema[:]...)
}

var (
	// ErrRecord means that the bytes are not a record.
	ErrRecord = errors.New("not a record")
	// ErrVersion means that a later version of package world wrote the record, or that it is a message
	// of a cluster, from the journal of a node.
	ErrVersion = errors.New("a later version of this package, or package cluster, wrote the record")
)

// Decode reads r from b. Input aliases b.
func (r *Record) Decode(b []byte) error {
	in := wire.Reader{Left: b}
	magic, version := in.Cut(2), in.Number(1)
	switch {
	case string(magic) != recordMagic || version < recordVersion:
		return ErrRecord
	case version > recordVersion:
		return ErrVersion
	}
	*r = Record{Kind: Kind(in.Number(1)), Cell: in.Number(8), Incarnation: in.Number(8), Term: uint32(in.Number(4)), Tick: in.Number(8), Time: int64(in.Number(8))}
	copy(r.Chain[:], in.Cut(16))
	r.Idle = uint32(in.Number(4))
	if r.Idle > MaxIdle {
		return ErrRecord
	}
	r.State.Tick = in.Number(8)
	for range in.Number(4) {
		s := ShardDigest{TypeID: uint16(in.Number(2)), Sum: in.Number(8)}
		if in.Failed {
			break
		}
		r.State.Shards = append(r.State.Shards, s)
	}
	switch r.Kind {
	case KindTermStart:
		r.Start = readTermStart(&in)
	case KindTick:
		r.Input, in.Left = in.Left, nil
	case KindHandoff:
		r.To, r.Wait = in.Text(), int64(in.Number(8))
	case KindSkip, KindIdle:
	default:
		return ErrRecord
	}
	if !in.Done() {
		return ErrRecord
	}
	return nil
}

func readTermStart(r *wire.Reader) (e TermStart) {
	e.Version, e.Hz = r.Text(), uint32(r.Number(4))
	e.Arch, e.Go = r.Text(), r.Text()
	copy(e.Schema[:], r.Cut(16))
	return e
}
