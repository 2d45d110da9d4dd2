package runner

import (
	"context"
	"fmt"

	"handloom/proof/draw"
	"handloom/proof/script"
)

// Under plays a program under several configurations, until one fails or ctx
// ends. Marks that differ from the first run are a failure. It returns the sum of
// the runs, with the marks of the first and the configurations of the failure.
func Under(ctx context.Context, p *script.Script, configs ...script.Config) *Result {
	all := new(Result)
	for i, c := range configs {
		r := Play(ctx, p, c)
		if all.add(r); ctx.Err() != nil {
			return all // the run has fewer marks than a whole one
		}
		switch what := Differ(all.Marks, r.Marks); {
		case r.Failure != nil:
			all.Failure, all.Configs = r.Failure, configs[i:i+1]
			return all
		case i == 0:
			// The first run is the reference.
			all.Marks = r.Marks
		case what != "":
			all.Failure = &Failure{Kind: Determinism, What: fmt.Sprintf("%v and %v: %s", configs[0], c, what)}
			all.Configs = []script.Config{configs[0], c}
			return all
		}
	}
	return all
}

func (r *Result) add(o *Result) {
	r.Operations += o.Operations
	r.Flushes += o.Flushes
	r.Seen.Add(o.Seen)
}

// Differ describes the first difference of the marks of two runs, or returns
// "".
func Differ(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("mark %d is %q and %q", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("there are %d and %d marks", len(a), len(b))
	}
	return ""
}

// Shrink returns the smallest program found until ctx ends that fails under the
// configurations of failed with a failure of the same kind, and that failure.
func Shrink(ctx context.Context, p *script.Script, failed *Result) (*script.Script, *Failure) {
	last := failed.Failure
	small := draw.Shrink(ctx, p, func(smaller *script.Script) bool {
		r := Under(ctx, smaller, failed.Configs...)
		fails := r.Failure != nil && r.Failure.Kind == failed.Failure.Kind
		if fails {
			last = r.Failure
		}
		return fails
	})
	small.Configs = failed.Configs
	return small, last
}
