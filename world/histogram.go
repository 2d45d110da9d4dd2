package world

import (
	"math"
	"math/bits"
	"time"
)

const (
	subBits = 6 // log2 of the buckets per power of two
	buckets = (63-subBits)<<subBits + 1<<subBits
)

// A histogram counts durations in buckets whose width grows with the value: below 128 ns each value
// has its own, above every power of two has 64 of equal width. So quantiles are at most 1/64 above
// the exact value. It takes 29 KiB.
type histogram struct {
	counts [buckets]uint64
	len    uint64
	max    time.Duration
}

// add counts d in O(1) time. A negative d, possible after a clock was set back, counts as
// 0.
func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.len++
	h.max = max(h.max, d)
}

// quantile returns the duration that a share q of the durations, 0 to 1, does not exceed,
// or 0 if the histogram is empty: 0.5 is the median.
// It takes time proportional to the 3,712 buckets.
func (h *histogram) quantile(q float64) time.Duration {
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
