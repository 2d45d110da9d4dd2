package apply

import "slices"

// Deal says how n new items are spread over shards of the given sizes, so that
// the sizes level out: with L the largest integer for which
// sum(max(0, L-size)) <= n, shard i takes max(0, L-sizes[i]), and what remains
// goes one each to the first shards of at most L items. It writes what shard i
// takes to take[i]. sorted is scratch of the same length.
func Deal(sizes []int, n int, take, sorted []int) {
	copy(sorted, sizes)
	slices.Sort(sorted)
	level, rest := sorted[0], n
	for k := 1; k <= len(sorted); k++ {
		// The k smallest shards stand at level; rest items are left to raise them.
		if k < len(sorted) && (sorted[k]-level)*k <= rest {
			rest -= (sorted[k] - level) * k
			level = sorted[k]
			continue
		}
		level += rest / k
		rest %= k
		break
	}
	for i, size := range sizes {
		take[i] = max(0, level-size)
		if rest > 0 && size <= level {
			take[i]++
			rest--
		}
	}
}
