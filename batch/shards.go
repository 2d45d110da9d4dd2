package batch

import "math/bits"

// Shards is a set of shards of one table, at most 64.
type Shards uint64

// AllShards returns the shards 0 to n-1.
func AllShards(n int) Shards { return 1<<n - 1 }

func (s *Shards) Add(shard int) { *s |= 1 << (shard & 63) }

func (s Shards) has(shard int) bool { return s>>(shard&63)&1 != 0 }

// First returns the lowest shard, and Rest the others. A flush loops with them to
// avoid the call of All (op=manytables).
func (s Shards) First() int   { return bits.TrailingZeros64(uint64(s)) }
func (s Shards) Rest() Shards { return s & (s - 1) }

// All yields shards in ascending order.
func (s Shards) All(yield func(shard int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}
