package results

import (
	"slices"

	"handloom/bench/internal/measure"
)

// Run is what one call of the program has measured.
type Run struct {
	Command     string
	Environment Environment
	Partial     bool // interrupted before everything was measured
	Results     []measure.Result
}

// Groups returns the results that have samples, by what they have in common and
// in the order of the first ones: operation, n and size of an item.
func (r *Run) Groups() [][]*measure.Result {
	groups := measure.GroupBy(r.Results, func(r *measure.Result) measure.Comparison {
		return measure.Comparison{Op: r.Op, N: r.N, Size: r.Size}
	})
	for i := range groups {
		groups[i] = slices.DeleteFunc(groups[i], func(r *measure.Result) bool { return len(r.Samples) == 0 })
	}
	return slices.DeleteFunc(groups, func(group []*measure.Result) bool { return len(group) == 0 })
}

// Reference returns the result of the group that r is set beside: the first one
// with as many workers or, if that is r's own implementation, the first one of
// all. It is nil for the first one.
func Reference(group []*measure.Result, r *measure.Result) *measure.Result {
	if r == group[0] {
		return nil
	}
	if r.Impl == group[0].Impl {
		return group[0]
	}
	for _, other := range group {
		if other.Impl == group[0].Impl && other.Workers == r.Workers {
			return other
		}
	}
	return group[0]
}

// Ratio is how many times as much one result is as another.
type Ratio struct {
	measure.Summary
	Apart bool // whether it is certain that they differ
}

// RatioOf returns a to b: the median over the rounds that both have, for the two
// samples of a round saw the same machine.
func RatioOf(a, b *measure.Result) Ratio {
	ratios := make([]float64, min(len(a.Samples), len(b.Samples)))
	for i := range ratios {
		ratios[i] = a.Samples[i].Value / b.Samples[i].Value
	}
	return Ratio{measure.Summarize(ratios), measure.Apart(a.Summary(), b.Summary())}
}
