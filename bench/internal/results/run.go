package results

import (
	"slices"

	"handloom/bench/internal/measure"
)

type Run struct {
	Command     string
	Environment Environment
	Partial     bool // interrupted
	Results     []measure.Result
	Starts      []measure.Result // with a sample per start of the program
}

// Groups returns the results with samples by operation, n and item size, in
// order of first appearance.
func (r *Run) Groups() [][]*measure.Result {
	groups := measure.GroupBy(r.Results, func(r *measure.Result) measure.Comparison {
		return measure.Comparison{Op: r.Op, N: r.N, Size: r.Size}
	})
	for i := range groups {
		groups[i] = slices.DeleteFunc(groups[i], func(r *measure.Result) bool { return len(r.Samples) == 0 })
	}
	return slices.DeleteFunc(groups, func(group []*measure.Result) bool { return len(group) == 0 })
}

// Reference returns the result of the group that r is compared with: the first
// one with as many workers or, for the first implementation, the first of all.
// It is nil for the first.
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

type Ratio struct {
	measure.Summary
	Apart bool // the difference is significant
}

// RatioOf returns a to b: the median of the ratios of their common rounds.
func RatioOf(a, b *measure.Result) Ratio {
	ratios := make([]float64, min(len(a.Samples), len(b.Samples)))
	for i := range ratios {
		ratios[i] = a.Samples[i].Value / b.Samples[i].Value
	}
	return Ratio{measure.Summarize(ratios), measure.Apart(a.Summary(), b.Summary())}
}
