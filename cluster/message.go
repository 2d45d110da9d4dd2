package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"

	"handloom/internal/wire"
)

const (
	messageMagic   = "HLM"
	messageVersion = 1
	headerBytes    = 48

	// partBytes keeps a message below 1 MiB, which is what servers take unless they
	// are told otherwise.
	fragmentBytes = 900 << 10

	maxRecord = 64 << 20
)

// A chain stands for a record and all before it.
type chain [16]byte

func (c chain) next(rec []byte) chain { return wire.Chain(c, rec) }

// A message is one part of a record.
type message struct {
	number              uint64 // of the record
	before, sum         chain
	fragment, fragments int // the first is 1
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

var errMessage = errors.New("it is no part of a record")

// decode makes m what b holds, whose bytes it keeps.
func (m *message) decode(b []byte) error {
	in := wire.Reader{Left: b}
	magic, version := in.Cut(3), in.Number(1)
	if string(magic) != messageMagic {
		return errMessage
	}
	if version != messageVersion {
		return fmt.Errorf("%w that this version of the package knows: it is version %d", errMessage, version)
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

// last reports whether a record ends with m.
func (m *message) last() bool { return m.fragment == m.fragments }

// A group collects the parts of a record.
type recordBuilder struct {
	number    uint64
	sum       chain
	fragments int // that there are; 0: none
	total     int // that there are to be
	rec       []byte
}

// add adds a part and returns the record if it is whole. Parts between which another
// message stands are no record, for anybody.
func (g *recordBuilder) add(m *message) (rec []byte, whole bool) {
	switch {
	case m.fragments == 1:
		g.fragments = 0
		return m.bytes, true
	case m.fragment == 1:
		*g = recordBuilder{m.number, m.sum, 1, m.fragments, append(g.rec[:0], m.bytes...)}
	case m.fragment != g.fragments+1 || m.fragments != g.total || m.sum != g.sum || m.number != g.number:
		g.fragments = 0
		return nil, false
	default:
		g.fragments++
		g.rec = append(g.rec, m.bytes...)
	}
	if !m.last() {
		return nil, false
	}
	g.fragments = 0
	return g.rec, true
}
