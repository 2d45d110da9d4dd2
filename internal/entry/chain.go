package entry

import (
	"encoding/binary"

	"handloom/internal/wire"
)

// A Chain is the hash of all records up to a position; see [wire.Chain]. Logs with equal
// chains contain equal records. A record after another chain belongs to another log or
// position.
type Chain [16]byte

func (c Chain) Next(rec []byte) Chain { return wire.Chain(c, rec) }

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
