package chart

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func labels(s scale) string {
	var words []string
	for _, t := range s.ticks {
		words = append(words, t.label)
	}
	return strings.Join(words, ", ")
}

func TestTicks_AreRoundWithUnit(t *testing.T) {
	tests := []struct {
		axis   Axis
		lo, hi float64
		want   int
		labels string
		begins bool // at the first value, not at zero
	}{
		{Axis{}, 0, 10, 5, "0, 2, 4, 6, 8, 10", false},
		{Axis{}, 3, 9.5, 5, "0, 2, 4, 6, 8, 10", false},
		{Axis{}, 0, 0.7, 4, "0, 0.2, 0.4, 0.6, 0.8", false},
		{Axis{}, 0, 3_100_000, 6, "0, 1M, 2M, 3M, 4M", false},
		{Axis{}, 0, 1_900_000, 6, "0, 0.5M, 1.0M, 1.5M, 2.0M", false},
		{Axis{}, -3, 5, 5, "-4, -2, 0, 2, 4, 6", false},
		{Axis{}, 7, 7, 4, "0, 2, 4, 6, 8", false},
		{Axis{}, 0, 0, 5, "0, 0.2, 0.4, 0.6, 0.8, 1.0", false},
		{Axis{Unit: Nanoseconds}, 0, 1_700_000, 5, "0, 0.5 ms, 1.0 ms, 1.5 ms, 2.0 ms", false},
		{Axis{Unit: Nanoseconds}, 0, 60e9, 4, "0, 15 s, 30 s, 45 s, 60 s", false},
		{Axis{Unit: Nanoseconds}, 0, 400e9, 5, "0, 2 min, 4 min, 6 min, 8 min", false},
		{Axis{Unit: Nanoseconds}, 0, 9 * 3600e9, 5, "0, 2 h, 4 h, 6 h, 8 h, 10 h", false},
		{Axis{Unit: Bytes}, 0, 300 << 20, 5, "0, 64 MiB, 128 MiB, 192 MiB, 256 MiB, 320 MiB", false},
		{Axis{Unit: Bytes}, 0, 5 << 29, 5, "0, 0.5 GiB, 1.0 GiB, 1.5 GiB, 2.0 GiB, 2.5 GiB", false},
		{Axis{Scale: Log10}, 1000, 1e7, 9, "1k, 10k, 100k, 1M, 10M", false},
		{Axis{Scale: Log10}, 30, 400, 9, "20, 50, 100, 200, 500", false},
		{Axis{Scale: Log10}, 5, 5, 9, "2, 5", false},
		{Axis{Scale: Log10}, 1e-3, 1e12, 5, "0.001, 1, 1k, 1M, 1G, 1T", false},
		{Axis{Scale: Log10, Unit: Nanoseconds}, 0.28, 114, 9, "1 ns, 10 ns, 100 ns", false},
		{Axis{}, 93, 99, 4, "94, 96, 98", true},
		{Axis{}, 1, 9.5, 5, "0, 2, 4, 6, 8", true},
	}
	for _, tt := range tests {
		if got := labels(newScale(tt.axis, extent{tt.lo, tt.hi, true}, tt.want, !tt.begins)); got != tt.labels {
			t.Errorf("%+v from %g to %g with about %d: %s\nwant %s", tt.axis, tt.lo, tt.hi, tt.want, got, tt.labels)
		}
	}
}

func TestAxis_HoldsValuesAndFewTicks(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		value := func() float64 { return math.Pow(10, r.Float64()*16-3) }
		var e extent
		a := Axis{Unit: Unit(r.IntN(3)), Scale: Scale(r.IntN(2))}
		for range 1 + r.IntN(3) {
			e.add(value(), a.Scale)
		}
		want := 2 + r.IntN(10)
		s := newScale(a, e, want, r.IntN(2) == 0)
		s.from, s.to = 0, 1000
		if s.lo > e.lo*(1+1e-9) || s.hi < e.hi*(1-1e-9) {
			t.Fatalf("seed %d: %+v of %v ends at %g and %g", seed, a, e, s.lo, s.hi)
		}
		if n := len(s.ticks); n < 1 || n > 2*want+2 {
			t.Fatalf("seed %d: %+v of %v has %d ticks, asked for %d: %s", seed, a, e, n, want, labels(s))
		}
		for i, k := range s.ticks {
			if p := s.at(k.value); math.IsNaN(p) || p < -1e-6 || p > 1000+1e-6 {
				t.Fatalf("seed %d: tick %s lies at %g", seed, k.label, p)
			}
			if i > 0 && (s.at(k.value) <= s.at(s.ticks[i-1].value) || k.label == s.ticks[i-1].label) {
				t.Fatalf("seed %d: ticks do not rise: %s", seed, labels(s))
			}
		}
	}
}

func TestFormat_HasThreeDigits(t *testing.T) {
	tests := []struct {
		unit Unit
		v    float64
		want string
	}{
		{Plain, 0, "0"},
		{Plain, 1234567, "1.23M"},
		{Plain, 1000, "1k"},
		{Plain, 0.254, "0.254"},
		{Plain, -1500, "-1.5k"},
		{Nanoseconds, 0.28, "0.28 ns"},
		{Nanoseconds, 41234, "41.2 us"},
		{Nanoseconds, 90e9, "90 s"},
		{Nanoseconds, 150e9, "2.5 min"},
		{Bytes, 1536, "1.5 KiB"},
		{Bytes, 1000, "1000 B"},
	}
	for _, tt := range tests {
		if got := tt.unit.Format(tt.v); got != tt.want {
			t.Errorf("%g is written %q; want %q", tt.v, got, tt.want)
		}
	}
}
