// Package histogram counts durations in buckets whose width grows with the value, so that
// millions of durations fit a fixed array and quantiles have a bounded relative error.
//
// # The buckets
//
// Each value below 128 ns has its own bucket. Above, every power of two has 64 buckets of equal
// width:
//
//	values      0..127   128..255   256..511   ...   2^62..2^63-1
//	width            1          2          4         2^56
//
// # The error
//
// [Histogram.Quantile] returns the upper end of the bucket of the quantile: at least the exact
// value and less than 1/64 (1.6 %) above it. [Histogram.Max] and [Histogram.Len] are exact.
package histogram

import (
	"math"
	"math/bits"
	"time"
)

const (
	subBits = 6 // log2 of the buckets per power of two
	buckets = (63-subBits)<<subBits + 1<<subBits
)

// Histogram counts durations. The zero Histogram is empty and ready to use, and takes 29
// KiB. One goroutine at a time may use it.
type Histogram struct {
	counts [buckets]uint64
	len    uint64
	max    time.Duration
}

// Add counts d in O(1) time. A negative d, possible after a clock was set back, counts as
// 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.len++
	h.max = max(h.max, d)
}

func (h *Histogram) Len() int { return int(h.len) }

// Max returns the longest duration, or 0 if the histogram is empty.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration that a share q of the durations, 0 to 1, does not exceed,
// or 0 if the histogram is empty: 0.5 is the median. See the package comment for the error.
// It takes time proportional to the 3,712 buckets.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.len == 0 {
		return 0
	}
	rank := uint64(math.Ceil(min(max(q, 0), 1) * float64(h.len)))
	rank = min(max(rank, 1), h.len)
	for i, n := range h.counts {
		if n >= rank {
			return min(upper(i), h.max)
		}
		rank -= n
	}
	return h.max
}

func bucket(v uint64) int {
	shift := max(bits.Len64(v)-(subBits+1), 0)
	return shift<<subBits + int(v>>shift)
}

func upper(bucket int) time.Duration {
	shift := max(bucket>>subBits-1, 0)
	mantissa := uint64(bucket - shift<<subBits)
	return time.Duration((mantissa+1)<<shift - 1)
}
