package batch

import (
	"math/rand/v2"
	"sync/atomic"

	"handloom/shard/handle"
)

// segmentNumbers numbers the segments of a table, which provisional handles contain. It
// never takes a number back, even after a failed pass or a rollback, because somebody may
// still hold a handle with it. The start is random: a handle of another store, such as the
// source of a snapshot, is stale except with probability n in 2^34 for a batch of n
// segments.
type segmentNumbers struct {
	_     [64]byte // queues sometimes write given; the fields before it are read often
	given atomic.Uint64
}

const (
	offsetBits   = 14
	segmentItems = 1 << offsetBits // creates per segment number
	typeShift    = 48              // lowest bit of the typeId in a handle, above segment and offset
	segmentMask  = 1<<(typeShift-offsetBits) - 1
)

func (n *segmentNumbers) begin() { n.given.Store(rand.Uint64N(segmentMask + 1)) }

// next returns a new segment number. Numbers repeat after 17 billion.
func (n *segmentNumbers) next() uint64 { return n.given.Add(1) & segmentMask }

// split splits a provisional handle into segment number and offset.
func split(id handle.ID) (number uint64, offset int) {
	return uint64(id) >> offsetBits & segmentMask, int(id & (segmentItems - 1))
}
