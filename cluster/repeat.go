package cluster

import (
	"context"
	"sync"
	"time"
)

// While a stream changes its leader, servers drop requests. So a request is sent again before
// its time is over: after firstAnswer, then after twice that, and so on.
const firstAnswer = 250 * time.Millisecond

// repeat calls request after no time, first, twice that, and so on, until one of the calls
// returns. It does not end the earlier ones, because the answer of a busy machine may be slow.
// request must return when its context ends.
func repeat[A any](ctx context.Context, first time.Duration, request func(ctx context.Context) (A, error)) (A, error) {
	type answer struct {
		value A
		err   error
	}
	var running sync.WaitGroup
	defer running.Wait() // the caller may reuse what request reads
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, 1)
	for wait := first; ; wait *= 2 {
		running.Go(func() {
			var a answer
			a.value, a.err = request(ctx)
			select {
			case answers <- a:
			default: // an earlier answer counts
			}
		})
		again := time.NewTimer(wait)
		select {
		case a := <-answers:
			again.Stop()
			return a.value, a.err
		case <-again.C:
		}
	}
}
