package batch

import (
	"math/rand/v2"
	"sync/atomic"

	"handloom/shard/handle"
)

// segmentNumbers numbers the segments of a table, of which provisional handles are
// made. It counts on along the table's whole history, whatever becomes of a batch: a number that
// was given back, by a pass that failed or a rollback, would be in handles that
// somebody still holds. The first number is random: a handle of another store, such as
// the one that a snapshot was taken of, is stale except with a chance of n in 2^34 in a
// batch of n segments.
type segmentNumbers struct {
	_     [64]byte // queues write given now and then, what lies before is read by all the time
	given atomic.Uint64
}

const (
	offsetBits   = 14
	segmentItems = 1 << offsetBits // creates that share a segment number
	typeShift    = 48              // of typeId and free bit in a handle; segment and offset lie below
	segmentMask  = 1<<(typeShift-offsetBits) - 1
)

// begin chooses the first number.
func (n *segmentNumbers) begin() { n.given.Store(rand.Uint64N(segmentMask + 1)) }

// next returns a segment number that the table has not used before, unless it has
// used all 17 billion: then they begin again.
func (n *segmentNumbers) next() uint64 { return n.given.Add(1) & segmentMask }

// split takes a provisional handle apart into segment number and offset.
func split(id handle.ID) (number uint64, offset int) {
	return uint64(id) >> offsetBits & segmentMask, int(id & (segmentItems - 1))
}
