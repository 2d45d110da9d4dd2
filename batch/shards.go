package batch

import "math/bits"

// Shards are shards of one table, as bits: a table has 64 at most. A flush walks over
// them instead of over all that a table has.
type Shards uint64

// AllShards returns the first n shards.
func AllShards(n int) Shards { return 1<<n - 1 }

// Add adds a shard.
func (s *Shards) Add(shard int) { *s |= 1 << (shard & 63) }

// has reports whether a shard is among them.
func (s Shards) has(shard int) bool { return s>>(shard&63)&1 != 0 }

// First returns the lowest, and Rest all but that: a walk by them, in the same order as by
// All, is what a flush does for each table (op=manytables).
func (s Shards) First() int   { return bits.TrailingZeros64(uint64(s)) }
func (s Shards) Rest() Shards { return s & (s - 1) }

// All yields them in ascending order.
func (s Shards) All(yield func(shard int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}
