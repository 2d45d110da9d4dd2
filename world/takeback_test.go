package world_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/world"
)

// The World reads the start of its term while the append of it has no outcome.
func TestHandoff_TakenBackTermIsAppliedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := keeping{world.Memory()}
		var appends atomic.Int64
		l := &faulty{Log: shared, append: func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			at, err := shared.Append(ctx, prev, rec)
			if appends.Add(-1) == 0 {
				<-ctx.Done()
				return 0, context.Cause(ctx)
			}
			return at, err
		}}
		r := run(t, newGame(t, alone), l)
		time.Sleep(time.Second)
		appends.Store(2) // the handoff is the first
		h := handOff(within(t, time.Second), r.World, "second")
		time.Sleep(5 * time.Second)
		wantHanded(t, h, context.DeadlineExceeded)
		s := r.Status()
		failIf(t, !s.Leader || s.Term != 2 || s.Halted != "", "%v", s)
		r.end(t)
		mustAudit(t, l)
	})
}
