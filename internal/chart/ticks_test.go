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

func TestAxis_HoldsValuesAndFewTicks(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		value := func() float64 {
			power := r.Float64()*16 - 3
			if r.IntN(4) == 0 {
				power = math.Floor(power)
			}
			return math.Pow(10, power)
		}
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
