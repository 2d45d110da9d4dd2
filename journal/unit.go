package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A unit is one write, made durable by one sync: one record or, with Every, several.
//
//	length u32 | crc u32 | seq u64 | chain u64 | salt u64 | (n u32 | record)... | zeros to a multiple of 8
//
// length counts the records with their lengths. crc covers all other bytes: also the length,
// because several lengths have the same zeros. seq is the position of the first record, chain the
// first half of the chain before it.
const (
	unitHeaderSize   = 32
	unitAlign        = 8
	recordHeaderSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A link is the end of a chain over all records, so a unit fits at one place only.
type link struct {
	seq   uint64 // position of the last record; 0 before the first
	chain [16]byte
}

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

func appendRecord(payload, rec []byte) []byte {
	payload = binary.LittleEndian.AppendUint32(payload, uint32(len(rec)))
	return append(payload, rec...)
}

func unitSize[N int | uint32](n N) int64 {
	return (int64(n) + unitHeaderSize + unitAlign - 1) &^ (unitAlign - 1)
}

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

func unitSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[8:])
}

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
	errChecksum = errors.New("checksum differs")
	errChain    = errors.New("record does not follow the record before it")
	errSalt     = errors.New("bytes of another journal")
	errLength   = errors.New("length exceeds the file")
	errPayload  = errors.New("record lengths do not match the unit")
)

func (h unitHeader) intact(b []byte) bool { return unitSum(b) == h.crc }

func (h unitHeader) follows(l link, salt uint64) error {
	switch {
	case h.salt != salt:
		return errSalt
	case h.seq != l.seq+1 || h.chain != l.half():
		return errChain
	}
	return nil
}

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
