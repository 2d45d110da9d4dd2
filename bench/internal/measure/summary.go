package measure

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// confidence is how often the interval of a [Summary] holds the true median, at
// the least.
const confidence = 0.95

// Summary is what repeated measurements say: their median and the interval in
// which the true median lies. Nothing is assumed of how samples are distributed:
// times have a floor, and a tail of whatever else the machine did.
type Summary struct {
	Median    float64
	Low, High float64 // of fewer than 6 samples -Inf and +Inf: too few to tell
}

// Summarize returns the summary of the samples, which are left as they are.
// There must be at least one.
func Summarize(samples []float64) Summary {
	kept := append([]float64(nil), samples...) // NewSample sorts
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(kept, &benchmath.DefaultThresholds), confidence)
	return Summary{s.Center, s.Lo, s.Hi}
}

// Summary returns the summary of a result that has samples.
func (r *Result) Summary() Summary { return Summarize(r.Values()) }

// Known reports whether there were enough samples to tell the interval.
func (s Summary) Known() bool { return !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) }

// Noise returns how far the interval reaches from the median, as a share of it:
// 0.02 is ± 2 %. It is +Inf where the interval is not known.
func (s Summary) Noise() float64 {
	reach := max(s.High-s.Median, s.Median-s.Low)
	if reach == 0 {
		return 0
	}
	return reach / math.Abs(s.Median)
}

// Apart reports whether the intervals of a and b have no value in common. Only
// then does one of them deserve to be called less than the other.
func Apart(a, b Summary) bool { return a.High < b.Low || b.High < a.Low }
