package shard_test

import (
	"flag"
	"math"
	"slices"
	"testing"

	"handloom/shard"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

// level returns the largest L with sum(max(0, L-size)) <= n, by trial.
func level(sizes []int, n int) (l, used int) {
	below := func(l int) (sum int) {
		for _, size := range sizes {
			sum += max(0, l-size)
		}
		return sum
	}
	for l = slices.Min(sizes); below(l+1) <= n; l++ {
	}
	return l, below(l)
}

func TestDeal_FollowsFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 64).Draw(t, "sizes")
		n := rapid.IntRange(0, 400).Draw(t, "n")
		l, used := level(sizes, n)
		rest := n - used
		take := slices.Clone(sizes)
		shard.Deal(take, n)
		for i, size := range sizes {
			want := max(0, l-size)
			if size <= l && rest > 0 {
				want++
				rest--
			}
			if take[i] != want {
				t.Fatalf("shard %d takes %d, want %d, of %v", i, take[i], want, take)
			}
		}
		if rest != 0 {
			t.Fatalf("%d items are dealt to nobody", rest)
		}
	})
}

func TestDeal_ManyItems(t *testing.T) {
	const first, items = math.MaxInt / 8, math.MaxInt / 4 // a loop over that many items would not end
	take := []int{first, 0, 1 << 20}
	shard.Deal(take, items)
	if sum := take[0] + take[1] + take[2]; sum != items || max(first+take[0], take[1])-min(first+take[0], take[1]) > 1 {
		t.Errorf("take %v", take)
	}
}
