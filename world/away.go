package world

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// awayTime is how long a log that others may own is asked again when it does not answer:
// it is on other machines, and they may be choosing a leader.
const awayTime = 30 * time.Second

// ask asks the log, again for as long as its failure may pass.
func ask[A any](ctx context.Context, l Log, question func(ctx context.Context) (A, error)) (A, error) {
	begin := time.Now()
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		a, err := question(ctx)
		passes := err != nil && l.ElectionTimeout() > 0 && !errors.Is(err, fs.ErrClosed) && time.Since(begin) < awayTime
		if !passes || sleep(ctx, wait) != nil {
			return a, err
		}
	}
}
