package cluster

import (
	"context"
	"time"
)

// While a stream changes its leader, servers drop requests. So a request is sent again before
// its time is over: after firstAnswer, then after twice that, and so on.
const firstAnswer = 250 * time.Millisecond

// repeat calls request, whose context ends after first, then after twice that, until it returns
// before, or ctx ends.
func repeat[A any](ctx context.Context, first time.Duration, request func(ctx context.Context) (A, error)) (A, error) {
	for wait := first; ; wait *= 2 {
		attempt, cancel := context.WithTimeout(ctx, wait)
		a, err := request(attempt)
		late := attempt.Err() != nil
		cancel()
		if err == nil || !late || ctx.Err() != nil {
			return a, err
		}
	}
}
