package measure_test

import (
	"math"
	"slices"
	"testing"

	"handloom/bench/internal/measure"
)

func TestSummarize_KeepsItsSamples(t *testing.T) {
	samples := []float64{9, 1, 2, 8, 4, 3}
	before := slices.Clone(samples)
	if s := measure.Summarize(samples); s.Median != 3.5 || s.Low != 1 || s.High != 9 {
		t.Errorf("the summary of %v is %+v", samples, s)
	}
	if !slices.Equal(before, samples) {
		t.Errorf("the samples have become %v", samples)
	}
	if s := measure.Summarize(samples[:5]); !math.IsInf(s.Noise(), 1) {
		t.Errorf("of 5 samples the interval is called known: %+v", s)
	}
}

func TestNoise(t *testing.T) {
	for _, tt := range []struct {
		s    measure.Summary
		want float64
	}{
		{measure.Summary{Median: 10, Low: 9, High: 10.5}, 0.1},
		{measure.Summary{Median: 10, Low: 9.9, High: 12}, 0.2},
		{measure.Summary{}, 0},
		{measure.Summary{Median: -4, Low: -5, High: -4}, 0.25},
	} {
		if got := tt.s.Noise(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("the noise of %+v is %v; want %v", tt.s, got, tt.want)
		}
	}
}

func TestApart_NeedsDisjointIntervals(t *testing.T) {
	a := measure.Summary{Low: 1, High: 2}
	for _, tt := range []struct {
		low, high float64
		want      bool
	}{{3, 4, true}, {2, 3, false}, {1.2, 1.5, false}, {0, 9, false}, {0, 1, false}, {0, 0.5, true}} {
		b := measure.Summary{Low: tt.low, High: tt.high}
		if measure.Apart(a, b) != tt.want || measure.Apart(b, a) != tt.want {
			t.Errorf("1 to 2 and %v to %v: apart is %v", tt.low, tt.high, !tt.want)
		}
	}
	if few := measure.Summarize([]float64{1}); measure.Apart(few, a) {
		t.Error("one sample is called apart from anything")
	}
}
