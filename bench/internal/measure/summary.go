package measure

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// confidence is the least probability that an interval holds the true median.
const confidence = 0.95

// Summary is the median of samples and a confidence interval, for any
// distribution: times have a floor and a long tail.
type Summary struct {
	Median    float64
	Low, High float64 // infinite with fewer than 6 samples
}

// Summarize returns the summary of at least one sample.
func Summarize(samples []float64) Summary {
	kept := append([]float64(nil), samples...) // NewSample sorts
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(kept, &benchmath.DefaultThresholds), confidence)
	return Summary{s.Center, s.Lo, s.Hi}
}

func (r *Result) Summary() Summary { return Summarize(r.Values()) }

// Noise returns the reach of the interval as a share of the median; +Inf if
// unknown.
func (s Summary) Noise() float64 {
	reach := max(s.High-s.Median, s.Median-s.Low)
	if reach == 0 {
		return 0
	}
	return reach / math.Abs(s.Median)
}

// Apart reports whether the intervals are disjoint. Only then is the difference
// significant.
func Apart(a, b Summary) bool { return a.High < b.Low || b.High < a.Low }
