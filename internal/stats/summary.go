package stats

import (
	"math"
	"slices"
)

// Confidence is how often the interval of a [Summary] holds the true median, at
// the least.
const Confidence = 0.95

// Summary is what repeated measurements say: their median and the interval in
// which the true median lies with at least [Confidence].
type Summary struct {
	N         int
	Median    float64
	Low, High float64 // of fewer than 6 samples -Inf and +Inf: too few to tell
}

// Summarize returns the summary of the samples, which may be in any order and
// are left as they are. The interval is one between two of them: a sample lies
// on either side of the true median as a coin falls, so that how many lie below
// is binomial. It panics when there are no samples.
func Summarize(samples []float64) Summary {
	xs := slices.Sorted(slices.Values(samples))
	s := Summary{N: len(xs), Median: middle(xs), Low: math.Inf(-1), High: math.Inf(1)}
	if k := outside(len(xs)); k > 0 {
		s.Low, s.High = xs[k-1], xs[len(xs)-k]
	}
	return s
}

// Median returns the middle one of the samples in order, or the mean of the two
// in the middle. It panics when there are no samples.
func Median(samples []float64) float64 {
	return middle(slices.Sorted(slices.Values(samples)))
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1] + (sorted[n/2]-sorted[n/2-1])/2
}

// outside returns the largest k for which the true median lies between the k-th
// lowest and the k-th highest of n samples with Confidence, or 0 if there is
// none: 1 from 6 samples on, 2 from 9.
func outside(n int) int {
	tail, term := 0.0, math.Exp2(-float64(n)) // of exactly k of n coins
	for k := range n {
		tail += term
		if 2*tail > 1-Confidence {
			return k
		}
		term *= float64(n-k) / float64(k+1)
	}
	return n
}

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
