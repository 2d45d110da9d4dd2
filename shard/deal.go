package shard

import (
	"math"
	"slices"
)

// Deal distributes n new items to shards of the given sizes so that sizes level out. With L the
// largest integer for which sum(max(0, L-size)) <= n, shard i gets max(0, L-sizes[i]); the rest
// goes one each to the first shards of at most L items. It replaces each size by the shard's
// number of new items.
//
// It iterates over the sizes once per size that L passes. Iteration k happens only for at least
// k*k/2 items, so few items need few iterations.
func Deal(sizes []int, n int) {
	if len(sizes) == 1 {
		sizes[0] = n
		return
	}
	level, rest := slices.Min(sizes), n
	for {
		low, next := 0, math.MaxInt // number of shards of at most level items, and the next larger size
		for _, size := range sizes {
			if size <= level {
				low++
			} else {
				next = min(next, size)
			}
		}
		if next == math.MaxInt || (next-level)*low > rest {
			level += rest / low
			rest %= low
			break
		}
		rest -= (next - level) * low
		level = next
	}
	for i, size := range sizes {
		sizes[i] = max(0, level-size)
		if rest > 0 && size <= level {
			sizes[i]++
			rest--
		}
	}
}
