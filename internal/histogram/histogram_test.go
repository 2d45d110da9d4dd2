package histogram_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"handloom/internal/histogram"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

func Example() {
	var h histogram.Histogram
	for i := range 1000 {
		h.Add(time.Duration(i+1) * time.Microsecond)
	}
	fmt.Println("half of them take at most", h.Quantile(0.5))
	fmt.Println("the longest takes", h.Max())
	// Output:
	// half of them take at most 503.807µs
	// the longest takes 1ms
}

// durations draws durations of all magnitudes.
func durations(t *rapid.T, label string) []time.Duration {
	bits := rapid.IntRange(0, 62)
	one := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, 1<<bits.Draw(t, "bits")).Draw(t, "d"))
	})
	return rapid.SliceOfN(one, 1, 200).Draw(t, label)
}

func histogramOf(ds []time.Duration) *histogram.Histogram {
	h := new(histogram.Histogram)
	for _, d := range ds {
		h.Add(d)
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
		got, want := h.Quantile(q), exact(ds, q)
		if got < want || float64(got-want) > float64(want)/64 || want < 128 && got != want {
			t.Fatalf("Quantile(%v) = %d; exact %d, allowed 1/64 above from 128 on", q, got, want)
		}
		if h.Len() != len(ds) || h.Max() != slices.Max(ds) {
			t.Fatalf("Len %d, Max %d; want %d, %d", h.Len(), h.Max(), len(ds), slices.Max(ds))
		}
		if h.Quantile(1) != h.Max() {
			t.Fatalf("Quantile(1) = %d; want the longest, %d", h.Quantile(1), h.Max())
		}
	})
}

func TestHistogram_Extremes(t *testing.T) {
	var h histogram.Histogram
	if h.Quantile(0.5) != 0 || h.Max() != 0 || h.Len() != 0 {
		t.Error("an empty histogram has a median, a longest or a length")
	}
	h.Add(-1)
	if h.Len() != 1 || h.Max() != 0 {
		t.Errorf("after Add(-1): Len %d, Max %d; want 1 and 0", h.Len(), h.Max())
	}
	h.Add(math.MaxInt64)
	if h.Quantile(1) != math.MaxInt64 || h.Quantile(2) != math.MaxInt64 || h.Quantile(-1) != 0 {
		t.Errorf("quantiles are %d, %d, %d", h.Quantile(1), h.Quantile(2), h.Quantile(-1))
	}
	for d := range time.Duration(128) {
		if got := histogramOf([]time.Duration{d, time.Hour}).Quantile(0.5); got != d {
			t.Errorf("quantile %d, want %d", got, d)
		}
	}
}
