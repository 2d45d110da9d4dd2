package tasks

import (
	"cmp"
	"slices"
)

// The sums of weights, in nanoseconds, below which sharing the work gains little or
// costs more than it gains.
const (
	inlineBelow = 10_000

	// wakeBelow holds where every other worker is parked, or is still to be started.
	// To wake one takes the caller 10 us (gap=2ms of BenchmarkPhase), and to share with
	// it saves no more than half of the work.
	wakeBelow = 20_000
)

// light reports whether there are weights and they add up to less than a bound. It looks
// at no more of them than that takes.
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

// even reports whether each task is at most an eighth of what a worker has to do, so that
// those who are done do not wait long for the last one.
func even(weights []int64, workers int) bool {
	sum, heaviest := 0.0, int64(0)
	for _, w := range weights {
		sum += float64(max(w, 0))
		heaviest = max(heaviest, w)
	}
	return float64(heaviest)*8*float64(workers) <= sum
}

// arrange computes the claim order: heaviest first, of equal ones the lowest.
// A heavy task claimed last would leave the other workers idle while it runs. Where no
// task is heavy there is no order: sorting many small ones takes longer than they do.
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
	p.weights = nil // they are the caller's again
}
