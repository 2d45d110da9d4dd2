package world

import (
	"encoding/binary"

	"handloom/internal/wire"
)

// A chain is the sum of all records up to a position, [wire.Chain]. Two logs with equal
// chains hold equal records; a record that follows another chain is not of this log, or
// not here.
type chain [16]byte

// next is the chain behind a record that follows c.
func (c chain) next(rec []byte) chain { return wire.Chain(c, rec) }

// seed is the random number of the tick whose record follows c. Nobody knows it
// before the record before is sealed.
func (c chain) seed(tick uint64) uint64 {
	return mix(binary.LittleEndian.Uint64(c[:8]) ^ mix(tick))
}

// mix maps numbers to numbers, no two to one, so that those which are close to each
// other are not any more (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
