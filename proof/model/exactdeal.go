package model

import "slices"

// deal returns the shares of n new items over shards of the given sizes. With L
// the largest level to which n items can raise all lower shards, each is raised
// to L. The rest goes one each to the first shards not above L.
func deal(sizes []int, n int) []int {
	level := slices.Min(sizes)
	for fits(sizes, level+1, n) {
		// Half of the rest, spread evenly, always fits. Single steps would be too many for
		// large n.
		level += max(1, (n-poured(sizes, level))/(2*len(sizes)))
	}
	take := make([]int, len(sizes))
	left := n - poured(sizes, level)
	for i, size := range sizes {
		take[i] = max(0, level-size)
		if size <= level && left > 0 {
			take[i]++
			left--
		}
	}
	return take
}

// fits reports whether n items raise all lower shards to the level.
func fits(sizes []int, level, n int) bool { return poured(sizes, level) <= n }

// poured returns the number of items that raise all lower shards to the level.
func poured(sizes []int, level int) int {
	sum := 0
	for _, size := range sizes {
		sum += max(0, level-size)
	}
	return sum
}
