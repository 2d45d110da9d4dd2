package tasks

import (
	"cmp"
	"slices"
)

// Sums of weights, in ns, below which sharing the work does not pay.
const (
	inlineBelow = 8_000

	// wakeBelow is the bound if all other workers are parked. Waking one takes the caller
	// 10 us (gap=2ms of BenchmarkPhase), and saves at most half of the work.
	wakeBelow = 20_000
)

func light(weights []int64, below int64) bool {
	if weights == nil {
		return false
	}
	room := below
	for _, w := range weights {
		if w >= room {
			return false
		}
		room -= max(w, 0)
	}
	return true
}

// even reports whether spans of neighbouring tasks share the work well: each task is at
// most an eighth of a worker's share, so that no worker waits long for the last one, or no
// span exceeds its share by more than an eighth.
func even(weights []int64, workers int) bool {
	sum, heaviest := 0.0, int64(0)
	for _, w := range weights {
		sum += float64(max(w, 0))
		heaviest = max(heaviest, w)
	}
	if float64(heaviest)*8*float64(workers) <= sum {
		return true
	}
	for i, n := 0, spansOf(len(weights), workers); i < n; i++ {
		lo, hi := spanOf(i, n, len(weights))
		part := 0.0
		for _, w := range weights[lo:hi] {
			part += float64(max(w, 0))
		}
		if part*8*float64(n) > 9*sum {
			return false
		}
	}
	return true
}

// arrange computes the order: heaviest first, then lowest. Even tasks are in spans
// instead: a worker takes the same tasks of each phase, and finds their data in its cache.
func (p *phase) arrange(workers int) {
	if p.weights == nil || even(p.weights, workers) {
		p.weights, p.order = nil, nil
		return
	}
	p.scratch = slices.Grow(p.scratch[:0], p.n)[:p.n]
	p.order = p.scratch
	for i := range p.order {
		p.order[i] = uint32(i)
	}
	weights := p.weights
	slices.SortFunc(p.order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	p.weights = nil
}
