package runner

import (
	"context"
	"fmt"

	"handloom/proof/script"
)

// Under plays a program under several configurations and returns its failure,
// or nil. Marks that differ from the first run are a failure.
func Under(ctx context.Context, p *script.Script, configs ...script.Config) *Failure {
	var first *Result
	for _, c := range configs {
		r := Play(ctx, p, c, nil)
		switch {
		case r.Failure != nil:
			return r.Failure
		// The first run is the reference.
		case first == nil:
			first = r
		default:
			if what := Differ(first, r); what != "" {
				return &Failure{Kind: Determinism, What: fmt.Sprintf("%v and %v: %s", configs[0], c, what)}
			}
		}
	}
	return nil
}

// Differ describes the first difference of the marks of two runs, or returns
// "".
func Differ(a, b *Result) string {
	for i := range min(len(a.Marks), len(b.Marks)) {
		if a.Marks[i] != b.Marks[i] {
			return fmt.Sprintf("mark %d is %q and %q", i, a.Marks[i], b.Marks[i])
		}
	}
	if len(a.Marks) != len(b.Marks) {
		return fmt.Sprintf("there are %d and %d marks", len(a.Marks), len(b.Marks))
	}
	return ""
}
