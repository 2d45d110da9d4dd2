package world

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// awayTime limits retries: the servers of a shared log may be electing a leader.
const awayTime = 30 * time.Second

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
