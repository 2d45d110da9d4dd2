package batch

import (
	"math/rand/v2"
	"sync/atomic"

	"handloom/handle"
)

// segmentNumbers numbers the segments of a table. No number is returned, even after a
// failed pass or a rollback, because its handles may be kept. The random start makes a
// handle of another store, such as a snapshot's, stale except with probability n in 2^34.
type segmentNumbers struct {
	_     [64]byte // given is written often, the fields before it are read often
	given atomic.Uint64
}

const (
	offsetBits   = 14
	segmentItems = 1 << offsetBits // creates per segment number
	typeShift    = 48              // lowest bit of the typeId
	segmentMask  = 1<<(typeShift-offsetBits) - 1
)

func (n *segmentNumbers) begin() { n.given.Store(rand.Uint64N(segmentMask + 1)) }

// next returns the next number. Numbers repeat after 2^34 calls, 17 billion.
func (n *segmentNumbers) next() uint64 { return n.given.Add(1) & segmentMask }

func split(id handle.ID) (number uint64, offset int) {
	return uint64(id) >> offsetBits & segmentMask, int(id & (segmentItems - 1))
}
