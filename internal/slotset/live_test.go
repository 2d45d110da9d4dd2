package slotset

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLive_EqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Live
		model := map[int]bool{}
		// Neighbours, and ends of words and pages.
		row := rapid.OneOf(rapid.IntRange(0, 200), rapid.SampledFrom([]int{63, 64, 4095, 4096, 8191, 8192}), rapid.IntRange(0, 20_000))
		rows := func(t *rapid.T) (lo, hi int) {
			lo = row.Draw(t, "lo")
			return lo, lo + rapid.SampledFrom([]int{0, 1, 3, 63, 64, 65, 200, 4096}).Draw(t, "rows")
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				var rows []int
				for first, end := range l.Runs(0, l.Cap()) {
					if first >= end || first/64 != (end-1)/64 {
						t.Fatalf("run from %d to %d", first, end)
					}
					for ; first < end; first++ {
						rows = append(rows, first)
					}
				}
				if want := slices.Sorted(maps.Keys(model)); !slices.Equal(rows, want) {
					t.Fatalf("Runs give %v, want %v", rows, want)
				}
			},
			"Add": func(t *rapid.T) {
				i := row.Draw(t, "i")
				l.Grow(i + 1)
				l.Add(Row(i))
				model[i] = true
			},
			"Remove": func(t *rapid.T) {
				if i := row.Draw(t, "i"); i < l.Cap() {
					l.Remove(Row(i))
					delete(model, i)
				}
			},
			"AddRange": func(t *rapid.T) {
				lo, hi := rows(t)
				l.Grow(hi)
				l.AddRange(lo, hi)
				for ; lo < hi; lo++ {
					model[lo] = true
				}
			},
			"RemoveRange": func(t *rapid.T) {
				lo, hi := rows(t)
				l.Grow(hi)
				l.RemoveRange(lo, hi)
				for ; lo < hi; lo++ {
					delete(model, lo)
				}
			},
			"Run": func(t *rapid.T) {
				lo, hi := rows(t)
				if l.Grow(hi); !model[lo] && rapid.Bool().Draw(t, "within") {
					l.AddRange(lo, hi) // the run continues past hi
					l.Grow(hi + 1)
					l.Add(Row(hi))
					for i := lo; i <= hi; i++ {
						model[i] = true
					}
				}
				first, end := l.Run(lo, hi)
				for lo < hi && !model[lo] {
					lo++
				}
				stop := lo
				for stop < hi && model[stop] {
					stop++
				}
				if first != lo || end != stop {
					t.Fatalf("the run is from %d to %d, want %d to %d", first, end, lo, stop)
				}
			},
			"Has": func(t *rapid.T) {
				if i := rapid.OneOf(row, rapid.IntRange(0, 1<<31-1)).Draw(t, "i"); l.Has(Row(i)) != model[i] {
					t.Fatalf("Has(%d) = %t", i, l.Has(Row(i)))
				}
			},
			"Runs": func(t *rapid.T) {
				lo, hi := row.Draw(t, "lo"), row.Draw(t, "hi")
				want, got := 0, 0
				for i := range model {
					if lo <= i && i < hi {
						want++
					}
				}
				for first, end := range l.Runs(lo, hi) {
					if got += end - first; first < lo || end > hi {
						t.Fatalf("Runs(%d, %d) gives %d to %d", lo, hi, first, end)
					}
				}
				if got != want {
					t.Fatalf("Runs(%d, %d) has %d rows, want %d", lo, hi, got, want)
				}
			},
			"Nth": func(t *rapid.T) {
				rows := slices.Sorted(maps.Keys(model))
				n := rapid.IntRange(0, len(rows)+1).Draw(t, "n")
				want := l.Cap()
				if n < len(rows) {
					want = rows[n]
				}
				if got := l.Nth(n); got != want {
					t.Fatalf("Nth(%d) = %d, want %d", n, got, want)
				}
			},
			"Shrink": func(t *rapid.T) {
				n := 0
				for i := range model {
					n = max(n, i+1)
				}
				if l.Shrink(n); l.Cap() < n || l.Cap() >= n+1<<bitmapBits {
					t.Fatalf("Shrink(%d) leaves room for %d", n, l.Cap())
				}
			},
			"Clear": func(*rapid.T) {
				l.Clear()
				clear(model)
			},
			"CopyTo": func(t *rapid.T) {
				var c Live
				c.Grow(rapid.IntRange(1, 20_000).Draw(t, "room"))
				c.Add(Row(rapid.IntRange(0, c.Cap()-1).Draw(t, "row"))) // an old row
				l.CopyTo(&c)
				l.Grow(1)
				l.Add(0) // a change of the original
				l = c
			},
		})
	})
}
