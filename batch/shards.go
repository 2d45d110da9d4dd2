package batch

import "math/bits"

// Shards is a set of shards of one table, which has at most 64. A flush visits these
// instead of all shards.
type Shards uint64

// AllShards returns the first n shards.
func AllShards(n int) Shards { return 1<<n - 1 }

// Add adds a shard.
func (s *Shards) Add(shard int) { *s |= 1 << (shard & 63) }

// has reports whether shard is a member.
func (s Shards) has(shard int) bool { return s>>(shard&63)&1 != 0 }

// First returns the lowest shard, and Rest the others. A flush uses them instead of All in
// its loop over tables (op=manytables).
func (s Shards) First() int   { return bits.TrailingZeros64(uint64(s)) }
func (s Shards) Rest() Shards { return s & (s - 1) }

// All yields the shards in ascending order.
func (s Shards) All(yield func(shard int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}
