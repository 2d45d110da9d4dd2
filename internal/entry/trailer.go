package entry

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"handloom/internal/wire"
)

// A Trailer follows the state in a snapshot of a world:
//
//	"HLWRLD" 0 2 | cell u64 | term u32 | owner u64 | time i64 | seed u64 | idle u32 | handed u8 | to | wait i64 | epoch | crc32c of this
//
// The tag of the snapshot has position, chain, tick and program.
type Trailer struct {
	Cell   uint64 // 0 before the first record
	Term   uint32
	Leader uint64    // incarnation
	Start  TermStart // the leader's
	Time   int64     // time of the last tick
	Seed   uint64    // seed of the last tick
	Idle   uint32    // ticks without input since the last record, at most MaxIdle
	Handed bool      // the leader handed the log over
	To     string    // new leader's version
	Wait   int64     // wait of the handoff record, see [Record]
}

const (
	trailerMagic   = "HLWRLD\x00"
	trailerVersion = 2

	// MaxTrailer is the maximum size of a trailer in bytes.
	MaxTrailer = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (t *Trailer) Encode() []byte {
	b := append([]byte(trailerMagic), trailerVersion)
	b = binary.LittleEndian.AppendUint64(b, t.Cell)
	b = binary.LittleEndian.AppendUint32(b, t.Term)
	b = binary.LittleEndian.AppendUint64(b, t.Leader)
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Time))
	b = binary.LittleEndian.AppendUint64(b, t.Seed)
	b = binary.LittleEndian.AppendUint32(b, t.Idle)
	if t.Handed {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = wire.AppendText(b, t.To)
	b = t.Start.append(binary.LittleEndian.AppendUint64(b, uint64(t.Wait)))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

var errTrailer = errors.New("it does not end as the snapshot of a world does")

func (t *Trailer) Decode(b []byte) error {
	n := len(b) - 4
	if n < 0 || crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return errTrailer
	}
	in := wire.Reader{Left: b[:n]}
	magic, version := in.Cut(uint64(len(trailerMagic))), in.Number(1)
	if string(magic) != trailerMagic || version != trailerVersion {
		return errTrailer
	}
	*t = Trailer{}
	t.Cell, t.Term, t.Leader, t.Time, t.Seed = in.Number(8), uint32(in.Number(4)), in.Number(8), int64(in.Number(8)), in.Number(8)
	t.Idle = uint32(in.Number(4))
	t.Handed, t.To, t.Wait = in.Number(1) != 0, in.Text(), int64(in.Number(8))
	t.Start = readTermStart(&in)
	if !in.Done() || t.Idle > MaxIdle {
		return errTrailer
	}
	return nil
}
