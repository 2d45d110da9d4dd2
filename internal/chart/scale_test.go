package chart

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAxis_HoldsValuesAndFewTicks(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		var e extent
		for range 1 + r.IntN(3) {
			e.add(math.Pow(10, r.Float64()*16-3))
		}
		want, u := 2+r.IntN(10), Unit(r.IntN(3))
		s := e.linear(u, want, r.IntN(2) == 0)
		if r.IntN(2) == 0 {
			s = e.logarithmic(u, want)
		}
		s.from, s.to = 0, 1000
		if n := len(s.ticks); s.lo > e.lo*(1+1e-9) || s.hi < e.hi*(1-1e-9) || n < 1 || n > 2*want+2 {
			t.Fatalf("seed %d: %+v of %v, asked for %d ticks: %+v", seed, e, u, want, s)
		}
		for i, k := range s.ticks {
			if p := s.at(k.value); p < -1e-6 || p > 1000+1e-6 || i > 0 && (p <= s.at(s.ticks[i-1].value) || k.label == s.ticks[i-1].label) {
				t.Fatalf("seed %d: tick %s lies at %g: %+v", seed, k.label, p, s.ticks)
			}
		}
	}
}

func TestFormat_HasThreeDigits(t *testing.T) {
	for _, tt := range []struct {
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
	} {
		if got := tt.unit.Format(tt.v); got != tt.want {
			t.Errorf("%g is written %q; want %q", tt.v, got, tt.want)
		}
	}
}
