package batch

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCreateIndex_FindsExactlyItsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p createIndex
		for range rapid.IntRange(1, 3).Draw(t, "uses") {
			first := rapid.Uint64Range(0, segmentMask).Draw(t, "first")
			strides := rapid.SliceOfN(rapid.SampledFrom([]uint64{1, 1, 1, 2, 64, 1 << 12, 1 << 30}), 0, 100).Draw(t, "strides")
			var order []run
			given := map[uint64]bool{}
			for _, stride := range strides {
				if first = (first + stride) & segmentMask; !given[first] {
					given[first] = true
					order = append(order, run{number: first})
				}
			}
			p.fill(order)
			for i := range order {
				number := order[i].number
				if at := p.find(number); at != i {
					t.Fatalf("number %d is found at %d, want %d", number, at, i)
				}
				for _, other := range []uint64{(number - 1) & segmentMask, (number + 1) & segmentMask, number ^ 1<<33} {
					if at := p.find(other); !given[other] && at >= 0 {
						t.Fatalf("number %d is found at %d and was not added", other, at)
					}
				}
			}
			p.reset()
		}
	})
}
