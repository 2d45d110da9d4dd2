package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A unit is what one write puts into a segment, and one sync makes durable: one
// record or, with Every, several.
//
//	length u32 | crc u32 | seq u64 | chain u64 | salt u64 | (n u32 | record)... | zeros to a multiple of 8
//
// length counts the records with their lengths, and crc covers all but itself: the
// length, for two lengths may have the same number of zeros behind them, and the
// zeros. seq is the position of the first record, chain the first half of the
// chain before it.
const (
	unitHead   = 32
	unitAlign  = 8
	recordHead = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A link is the end of a chain over all records of a journal, so that a unit has
// one place where it fits: behind this record, with this before it.
type link struct {
	seq   uint64 // of the last record; 0 before the first
	chain [16]byte
}

// next is the link behind l and a unit with n records and this payload.
func (l link) next(n uint64, payload []byte) link {
	h := sha256.New()
	h.Write(l.chain[:])
	var seq [8]byte
	binary.LittleEndian.PutUint64(seq[:], l.seq)
	h.Write(seq[:])
	h.Write(payload)
	next := link{seq: l.seq + n}
	copy(next.chain[:], h.Sum(nil))
	return next
}

func (l link) half() uint64 { return binary.LittleEndian.Uint64(l.chain[:8]) }

// appendRecord appends rec to the payload of a unit.
func appendRecord(payload, rec []byte) []byte {
	payload = binary.LittleEndian.AppendUint32(payload, uint32(len(rec)))
	return append(payload, rec...)
}

// unitSize is how many bytes a unit with a payload of n takes in its segment.
func unitSize[N int | uint32](n N) int64 {
	return (int64(n) + unitHead + unitAlign - 1) &^ (unitAlign - 1)
}

// appendUnit appends the unit behind l with this payload to b.
func appendUnit(b []byte, salt uint64, l link, payload []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, l.seq+1)
	b = binary.LittleEndian.AppendUint64(b, l.half())
	b = binary.LittleEndian.AppendUint64(b, salt)
	b = append(b, payload...)
	b = append(b, make([]byte, int(unitSize(len(payload)))-(len(b)-start))...)
	binary.LittleEndian.PutUint32(b[start+4:], unitSum(b[start:]))
	return b
}

// unitSum is the checksum of a unit.
func unitSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[8:])
}

// A unitHeader is the first bytes of a unit, which nothing has verified yet.
type unitHeader struct {
	length, crc      uint32
	seq, chain, salt uint64
}

func parseUnitHeader(b []byte) unitHeader {
	return unitHeader{
		length: binary.LittleEndian.Uint32(b), crc: binary.LittleEndian.Uint32(b[4:]),
		seq: binary.LittleEndian.Uint64(b[8:]), chain: binary.LittleEndian.Uint64(b[16:]), salt: binary.LittleEndian.Uint64(b[24:]),
	}
}

var (
	errChecksum = errors.New("the checksum differs")
	errChain    = errors.New("the record does not follow the one before it")
	errSalt     = errors.New("the bytes are of another journal")
	errLength   = errors.New("a length leaves its file")
	errPayload  = errors.New("the lengths of the records differ from their sum")
)

// intact reports whether b, a unit from its header to its last zero, is as it was
// written.
func (h unitHeader) intact(b []byte) bool { return unitSum(b) == h.crc }

// follows says why an intact unit does not belong behind l, or nil.
func (h unitHeader) follows(l link, salt uint64) error {
	switch {
	case h.salt != salt:
		return errSalt
	case h.seq != l.seq+1 || h.chain != l.half():
		return errChain
	}
	return nil
}

// eachRecord calls f with the records of a payload, in order, and returns how
// many there are.
func eachRecord(payload []byte, f func(rec []byte) error) (n uint64, err error) {
	for len(payload) > 0 {
		if len(payload) < 4 {
			return n, errPayload
		}
		size := uint64(binary.LittleEndian.Uint32(payload))
		if size > uint64(len(payload)-4) {
			return n, errPayload
		}
		if err := f(payload[4 : 4+size]); err != nil {
			return n, err
		}
		payload = payload[4+size:]
		n++
	}
	return n, nil
}

// allZero reports whether b has no other byte than 0.
func allZero(b []byte) bool {
	for len(b) > len(zeros) {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
		b = b[len(zeros):]
	}
	return bytes.Equal(b, zeros[:len(b)])
}

var zeros [4096]byte
