// Package histogram counts durations in buckets whose width grows with the
// value, so that millions of them fit a fixed array and any quantile is known
// within a fixed share of itself.
//
// # The buckets
//
// A value below 128 ns has a bucket of its own. From there on every power of two
// is cut into 64 buckets of equal width:
//
//	values      0..127   128..255   256..511   ...   2^62..2^63-1
//	width            1          2          4         2^56
//
// # The error
//
// [Histogram.Quantile] returns the upper end of the bucket that holds the
// quantile, so it is never below the exact answer, and above it by less than
// 1/64 of it (1.6 %). [Histogram.Max] and [Histogram.Len] are exact.
package histogram

import (
	"math"
	"math/bits"
	"time"
)

const (
	subBits = 6 // a power of two has 1<<subBits buckets
	buckets = (63-subBits)<<subBits + 1<<subBits
)

// Histogram holds the counts. The zero Histogram is empty and ready to use, and
// takes 29 KiB. It belongs to one goroutine at a time.
type Histogram struct {
	counts [buckets]uint64
	len    uint64
	max    time.Duration
}

// Add counts d once. A negative d, which a clock that was set back can give,
// counts as 0. Add takes O(1) time.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.len++
	h.max = max(h.max, d)
}

// Merge adds what o has counted.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.len += o.len
	h.max = max(h.max, o.max)
}

// Len returns how many durations were counted.
func (h *Histogram) Len() int { return int(h.len) }

// Max returns the longest duration, or 0 if there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration that a share q of all durations, 0 to 1, does
// not exceed: 0.5 is the median. The package comment says how exact it is. Of an
// empty histogram it is 0. It takes time in the number of buckets, 3,712.
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

// bucket returns the index of the bucket of v, which is below 1<<63.
func bucket(v uint64) int {
	shift := max(bits.Len64(v)-(subBits+1), 0)
	return shift<<subBits + int(v>>shift)
}

// upper returns the highest value of a bucket.
func upper(bucket int) time.Duration {
	shift := max(bucket>>subBits-1, 0)
	mantissa := uint64(bucket - shift<<subBits)
	return time.Duration((mantissa+1)<<shift - 1)
}
