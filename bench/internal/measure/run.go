package measure

import (
	"context"
	"math/rand/v2"
	"time"
)

type Options struct {
	Rounds   int
	Time     time.Duration // least time of bodies in a sample; 0: one body
	Seed     uint64        // for the order
	Progress func(Progress)
}

type Progress struct {
	Case        *Case
	Done, Total int // samples, including dropped ones
}

type Result struct {
	Case
	Samples []Sample // by round
}

// Run measures the cases and returns their results in the same order. When ctx
// ends, it returns the cause; results then lack samples.
func (o Options) Run(ctx context.Context, cases []Case) ([]Result, error) {
	results := make([]Result, len(cases))
	for i, c := range cases {
		results[i].Case = c
	}
	r := runner{Options: o, random: rand.New(rand.NewPCG(o.Seed, uint64(len(cases))))}
	for i := range cases {
		r.at.Total += 1 + o.rounds(&cases[i])
	}
	comparisons := GroupBy(results, func(r *Result) Comparison { return r.Comparison() })
	r.random.Shuffle(len(comparisons), func(i, j int) { comparisons[i], comparisons[j] = comparisons[j], comparisons[i] })
	for _, c := range comparisons {
		if err := r.compare(ctx, c); err != nil {
			return results, err
		}
	}
	return results, nil
}

func (o Options) rounds(c *Case) int {
	if c.Rounds > 0 {
		return min(o.Rounds, c.Rounds)
	}
	return o.Rounds
}

// GroupBy groups the results by key, in order of first appearance.
func GroupBy(results []Result, key func(*Result) Comparison) (groups [][]*Result) {
	index := make(map[Comparison]int)
	for i := range results {
		c := key(&results[i])
		at, ok := index[c]
		if !ok {
			at = len(groups)
			index[c] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], &results[i])
	}
	return groups
}

type runner struct {
	Options
	random *rand.Rand
	at     Progress
}

func (r *runner) compare(ctx context.Context, results []*Result) error {
	works := make(map[*Result]*Work, len(results))
	defer func() {
		for _, result := range results {
			if w := works[result]; w != nil {
				w.close()
			}
		}
	}()
	order := append([]*Result(nil), results...)
	for round := range r.Rounds + 1 {
		r.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, result := range order {
			if round > r.rounds(&result.Case) {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.notify(result)
			if works[result] == nil {
				works[result] = result.Open()
			}
			r.sample(works[result], result, round)
		}
	}
	return nil
}

// sample takes a sample and drops it in round 0. A [Work.Measure] has no
// round 0, because it rebuilds its data.
func (r *runner) sample(w *Work, result *Result, round int) {
	switch {
	case round > 0:
		result.Samples = append(result.Samples, w.Sample(result.Unit, r.Time))
	case w.Measure == nil:
		w.Sample(result.Unit, r.Time/2)
	}
	r.at.Done++
}

func (r *runner) notify(result *Result) {
	r.at.Case = &result.Case
	if r.Progress != nil {
		r.Progress(r.at)
	}
}

func (r *Result) Values() []float64 {
	values := make([]float64, len(r.Samples))
	for i, s := range r.Samples {
		values[i] = s.Value
	}
	return values
}
