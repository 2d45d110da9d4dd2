package entry

import (
	"encoding/binary"

	"handloom/internal/wire"
)

// A Chain is the sum of all records up to a position, [wire.Chain]. Two logs with equal
// chains hold equal records; a record that follows another chain is not of this log, or
// not here.
type Chain [16]byte

// Next returns the chain after a record that follows c.
func (c Chain) Next(rec []byte) Chain { return wire.Chain(c, rec) }

// Seed returns the random number of the tick whose record follows c. Nobody knows it
// before the record before is sealed.
func (c Chain) Seed(tick uint64) uint64 {
	return Mix(binary.LittleEndian.Uint64(c[:8]) ^ Mix(tick))
}

// Mix maps numbers to numbers, no two to one. Close numbers become distant ones
// (splitmix64).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
