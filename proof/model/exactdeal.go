package model

import "slices"

// deal spreads n new items over shards of the given sizes: with L the largest
// level that n items can raise all lower shards to, each is raised to L, and the
// rest goes one each to the first of those that are not above it.
func deal(sizes []int, n int) []int {
	level := slices.Min(sizes)
	for fits(sizes, level+1, n) {
		level += max(1, (n-poured(sizes, level))/(2*len(sizes)))
		for !fits(sizes, level, n) {
			level--
		}
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

func fits(sizes []int, level, n int) bool { return poured(sizes, level) <= n }

// poured is how many items raise all shards below a level to it.
func poured(sizes []int, level int) int {
	sum := 0
	for _, size := range sizes {
		sum += max(0, level-size)
	}
	return sum
}
