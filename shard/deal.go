package shard

import (
	"math"
	"slices"
)

// Deal says how n new items are spread over shards of the given sizes, so that
// the sizes level out: with L the largest integer for which
// sum(max(0, L-size)) <= n, shard i takes max(0, L-sizes[i]), and what remains
// goes one each to the first shards of at most L items. It puts what each shard
// takes in the place of its size.
//
// It walks over the sizes once for each size that L comes past. The walk number k is
// made when the items are k*k/2 at least, so that few items need few.
func Deal(sizes []int, n int) {
	if len(sizes) == 1 {
		sizes[0] = n
		return
	}
	level, rest := slices.Min(sizes), n
	for {
		low, next := 0, math.MaxInt // shards of at most level items, and the smallest size beyond
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
