package world_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

func TestStep_FinishesTickAfterContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, h := newGame(t, store.Options{}), newGame(t, store.Options{})
		w, v := mustOpen(t, g, l), mustOpen(t, h, l)
		for _, c := range []struct {
			*world.World
			*game
		}{{w, g}, {v, h}} {
			ctx, cancel := context.WithCancel(t.Context())
			c.fault = func(world.Tick) error { cancel(); return nil }
			tick, err := c.Step(ctx)
			failIf(t, err != nil && !errors.Is(err, context.Canceled), "Step: tick %d, %v", tick.Number, err)
			c.fault = nil
			s := c.Status()
			failIf(t, s.Tick != 1 || s.Halted != "", "%v", s)
		}
		stepEach(t, w, v)
		wantSame(t, g, h)
		mustClose(t, v, w)
	})
}

func TestInputBytes_LimitsEachTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := newWorld(t, store.Options{}, world.Memory(), func(o *world.Options) { o.InputBytes = 1 })
		var calls []*submission
		for n := range 3 {
			calls = append(calls, submit(t.Context(), w, g.order(n)))
		}
		steps(t, w, 3)
		synctest.Wait()
		for n, s := range calls {
			wantApplied(t, s, uint64(n+1))
		}
		mustClose(t, w)
	})
}
