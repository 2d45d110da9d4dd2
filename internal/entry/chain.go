package entry

import (
	"crypto/sha256"
	"encoding/binary"
)

// A Chain is the hash of all records of a log up to a position. Logs with equal
// chains contain equal records. A record after another chain belongs to another log or
// position.
type Chain [16]byte

// Next returns the chain up to rec: the first half of the SHA-256 of c and rec.
func (c Chain) Next(rec []byte) (next Chain) {
	h := sha256.New()
	h.Write(c[:])
	h.Write(rec)
	copy(next[:], h.Sum(nil))
	return next
}

// Seed returns the random seed of the tick whose record follows c. It is unpredictable
// until the previous record is sealed.
func (c Chain) Seed(tick uint64) uint64 {
	return Mix(binary.LittleEndian.Uint64(c[:8]) ^ Mix(tick))
}

// Mix is a bijection that spreads close numbers (splitmix64).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Unmix is the inverse of Mix.
func Unmix(x uint64) uint64 {
	x = (x ^ x>>31 ^ x>>62) * 0x319642b2d24d8ec3
	x = (x ^ x>>27 ^ x>>54) * 0x96de1b173f119089
	return (x ^ x>>30 ^ x>>60) - 0x9e3779b97f4a7c15
}
