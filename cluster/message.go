package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"

	"handloom/internal/entry"
	"handloom/internal/wire"
)

const (
	messageMagic   = "HLM"
	messageVersion = 1
	headerBytes    = 48

	// fragmentBytes keeps messages below 1 MiB, the servers' default limit.
	fragmentBytes = 900 << 10

	maxRecord = 64 << 20
)

// A chain is the sum of a record and all records before it.
type chain [16]byte

func (c chain) next(rec []byte) chain { return chain(entry.Chain(c).Next(rec)) }

// A message is one fragment of a record.
type message struct {
	number              uint64 // record number
	before, sum         chain
	fragment, fragments int // from 1
	bytes               []byte
}

func (m *message) encode() []byte {
	b := make([]byte, 0, headerBytes+len(m.bytes))
	b = append(b, messageMagic...)
	b = append(b, messageVersion)
	b = binary.LittleEndian.AppendUint64(b, m.number)
	b = append(b, m.before[:]...)
	b = append(b, m.sum[:]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(m.fragment))
	b = binary.LittleEndian.AppendUint16(b, uint16(m.fragments))
	return append(b, m.bytes...)
}

var errMessage = errors.New("not a message of a log")

// decode sets m from b. m.bytes aliases b.
func (m *message) decode(b []byte) error {
	in := wire.Reader{Left: b}
	magic, version := in.Cut(3), in.Number(1)
	if string(magic) != messageMagic {
		return errMessage
	}
	if version != messageVersion {
		return fmt.Errorf("%w: version: got %d, want %d", errMessage, version, messageVersion)
	}
	m.number = in.Number(8)
	copy(m.before[:], in.Cut(16))
	copy(m.sum[:], in.Cut(16))
	m.fragment, m.fragments = int(in.Number(2)), int(in.Number(2))
	m.bytes = in.Left
	if in.Failed || m.number == 0 || m.fragment < 1 || m.fragment > m.fragments {
		return errMessage
	}
	return nil
}

func (m *message) last() bool { return m.fragment == m.fragments }

// A recordBuilder joins the fragments of a record.
type recordBuilder struct {
	number    uint64
	sum       chain
	fragments int // collected; 0: none
	total     int // expected
	rec       []byte
}

// add returns the record if m completes it. Any message between two fragments voids the record.
func (b *recordBuilder) add(m *message) (rec []byte, whole bool) {
	switch {
	case m.fragments == 1:
		b.fragments = 0
		return m.bytes, true
	case m.fragment == 1:
		*b = recordBuilder{m.number, m.sum, 1, m.fragments, append(b.rec[:0], m.bytes...)}
	case m.fragment != b.fragments+1 || m.fragments != b.total || m.sum != b.sum || m.number != b.number:
		b.fragments = 0
		return nil, false
	default:
		b.fragments++
		b.rec = append(b.rec, m.bytes...)
	}
	if !m.last() {
		return nil, false
	}
	b.fragments = 0
	return b.rec, true
}
