package world

import (
	"flag"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

// durations draws durations of all magnitudes.
func durations(t *rapid.T, label string) []time.Duration {
	bits := rapid.IntRange(0, 62)
	one := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, 1<<bits.Draw(t, "bits")).Draw(t, "d"))
	})
	return rapid.SliceOfN(one, 1, 200).Draw(t, label)
}

func histogramOf(ds []time.Duration) *histogram {
	h := new(histogram)
	for _, d := range ds {
		h.add(d)
	}
	return h
}

func exact(ds []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(ds))
	rank := int(math.Ceil(q * float64(len(ds))))
	return sorted[max(rank, 1)-1]
}

func TestHistogram_IsWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := durations(t, "durations")
		h := histogramOf(ds)
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got, want := h.quantile(q), exact(ds, q)
		if got < want || float64(got-want) > float64(want)/64 || want < 128 && got != want {
			t.Fatalf("Quantile(%v) = %d; exact %d, allowed 1/64 above from 128 on", q, got, want)
		}
		if h.quantile(1) != slices.Max(ds) {
			t.Fatalf("quantile(1) = %d; want the longest, %d", h.quantile(1), slices.Max(ds))
		}
	})
}

func TestHistogram_Extremes(t *testing.T) {
	var h histogram
	if h.quantile(0.5) != 0 {
		t.Error("an empty histogram has a median")
	}
	h.add(-1)
	h.add(math.MaxInt64)
	if h.quantile(1) != math.MaxInt64 || h.quantile(2) != math.MaxInt64 || h.quantile(-1) != 0 {
		t.Errorf("quantiles are %d, %d, %d", h.quantile(1), h.quantile(2), h.quantile(-1))
	}
	for d := range time.Duration(128) {
		if got := histogramOf([]time.Duration{d, time.Hour}).quantile(0.5); got != d {
			t.Errorf("quantile %d, want %d", got, d)
		}
	}
}
