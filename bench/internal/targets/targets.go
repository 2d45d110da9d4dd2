package targets

import (
	"cmp"
	"regexp"
	"slices"

	"handloom/bench/internal/measure"
)

type Target struct {
	ID      string
	Work    string
	N, Size int
	Value   measure.Summary
	Limit   float64
	Higher  bool // more is better
	Met     bool
	Promise bool // false: no limit, for comparison
}

// Plan has the targets that can be measured on this machine.
type Plan struct {
	workers int
	clauses []planned
}

type planned struct {
	clause
	place
}

// NewPlan returns the targets whose id matches, unless they need more workers
// than processors.
func NewPlan(id *regexp.Regexp, processors int) *Plan {
	p := &Plan{workers: processors}
	for _, c := range contract {
		for _, at := range c.at {
			if id.MatchString(c.id) && p.fits(c) {
				p.clauses = append(p.clauses, planned{c, at})
			}
		}
	}
	return p
}

// fits reports whether no case of the clause has more workers than processors.
func (p *Plan) fits(c clause) bool {
	for _, called := range c.value.cases {
		if name(called, place{}).Workers > p.workers {
			return false
		}
	}
	return true
}

// Select returns the cases that the plan needs.
func (p *Plan) Select(cases []measure.Case) (needed []measure.Case) {
	names := make(map[string]bool)
	for _, c := range p.clauses {
		for _, called := range c.value.cases {
			needs := name(called, c.place)
			names[needs.Name()] = true
		}
	}
	for _, c := range cases {
		if names[c.Name()] {
			needed = append(needed, c)
		}
	}
	return needed
}

// Starts returns the cases of targets that need several starts of the program.
func (p *Plan) Starts(cases []measure.Case) (needed []measure.Case) {
	q := Plan{clauses: slices.DeleteFunc(slices.Clone(p.clauses), func(c planned) bool { return !c.value.starts })}
	return q.Select(cases)
}

// Evaluate returns the targets whose cases were all measured. starts are the results with a
// sample per start of the program.
func (p *Plan) Evaluate(results, starts []measure.Result) (targets []Target) {
	inRounds, inStarts := byName(results), byName(starts)
	for _, c := range p.clauses {
		from := inRounds
		if c.value.starts {
			from = inStarts
		}
		values := c.rounds(from)
		if len(values) == 0 {
			continue
		}
		s := measure.Summarize(values)
		targets = append(targets, Target{
			ID: c.id, Work: c.work, N: c.n, Size: c.size, Value: s,
			Limit: c.limit.value, Higher: c.limit.higher,
			Met: c.limit.met(s.Median), Promise: !c.limit.none,
		})
	}
	return targets
}

func byName(results []measure.Result) map[string]*measure.Result {
	all := make(map[string]*measure.Result)
	for i := range results {
		all[results[i].Name()] = &results[i]
	}
	return all
}

func (c planned) rounds(byName map[string]*measure.Result) (values []float64) {
	var cases []*measure.Result
	for _, called := range c.value.cases {
		needs := name(called, c.place)
		r := byName[needs.Name()]
		if r == nil {
			return nil
		}
		cases = append(cases, r)
	}
	if c.value.best {
		peer := slices.MinFunc(cases[1:], func(a, b *measure.Result) int { return cmp.Compare(a.Summary().Median, b.Summary().Median) })
		cases = []*measure.Result{cases[0], peer}
	}
	samples := make([]float64, len(cases))
	for round := 0; ; round++ {
		for i, r := range cases {
			if round >= len(r.Samples) {
				return values
			}
			samples[i] = r.Samples[round].Value
		}
		values = append(values, c.value.from(samples))
	}
}

func (p *Plan) Workers() []int {
	all := []int{p.workers}
	for _, c := range p.clauses {
		for _, called := range c.value.cases {
			if w := name(called, c.place).Workers; w > 0 && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	slices.Sort(all)
	return all
}
