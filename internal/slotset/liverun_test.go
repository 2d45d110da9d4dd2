package slotset

import (
	"testing"

	"pgregory.net/rapid"
)

// Run finds what asking row by row does, and ranges are what their rows are.
func TestRunsOfLiveRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 9000 // more than two pages
		var l Live
		l.Grow(n)
		model := make([]bool, n)
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			lo := rapid.IntRange(0, n).Draw(t, "lo")
			hi := min(n, lo+rapid.SampledFrom([]int{0, 1, 3, 63, 64, 65, 200, 4096, n}).Draw(t, "rows"))
			add := rapid.Bool().Draw(t, "add")
			if add {
				l.AddRange(lo, hi)
			} else {
				l.RemoveRange(lo, hi)
			}
			for row := lo; row < hi; row++ {
				model[row] = add
			}
		}
		for row, want := range model {
			if l.Has(Row(row)) != want {
				t.Fatalf("row %d has an item: %t", row, !want)
			}
		}
		lo := rapid.IntRange(0, n).Draw(t, "from")
		hi := rapid.IntRange(lo, n).Draw(t, "to")
		for at := lo; ; {
			first, end := l.Run(at, hi)
			for at < hi && !model[at] {
				at++
			}
			stop := at
			for stop < hi && model[stop] {
				stop++
			}
			if first != at || end != stop {
				t.Fatalf("the run is from %d to %d, want %d to %d", first, end, at, stop)
			}
			if at = end; at == hi {
				return
			}
		}
	})
}
