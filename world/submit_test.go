package world_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

func TestSubmit_ReportsRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, h := newGame(t, store.Options{InboxLimit: 4}), newGame(t, store.Options{InboxLimit: 4})
		w, v := mustOpen(t, g, l), mustOpen(t, h, l)
		ctx := t.Context()
		wantError(t, errorOf(w.Submit(ctx, func(store.Queue) error { return errGame })), errGame)
		wantError(t, errorOf(v.Submit(ctx, h.order(1))), world.ErrNotLeader)
		many := func(q store.Queue) error {
			for range 5 {
				g.camps.Emplace(q, camp{})
			}
			return nil
		}
		wantError(t, errorOf(w.Submit(ctx, many)), store.ErrQueueFull)
		var inTick, inApplied, inStep error
		g.fault = func(world.Tick) error {
			_, inStep = w.Step(ctx)
			return nil
		}
		mustStep(t, w)
		g.fault = nil
		wantError(t, inStep, store.ErrPhase)
		inTick, inApplied = inside(t)
		failIf(t, !errors.Is(inTick, store.ErrPhase) || !errors.Is(inApplied, store.ErrPhase), "inside a tick: %v; inside Applied: %v", inTick, inApplied)
		mustClose(t, w, w)
		wantError(t, errorOf(w.Submit(ctx, g.order(1))), store.ErrClosed)
		wantError(t, errorOf(w.Step(ctx)), store.ErrClosed)
		mustClose(t, v)
	})
}

func inside(t *testing.T) (tick, applied error) {
	g := newGame(t, store.Options{})
	var w *world.World
	o := g.options()
	o.Tick = func(ctx context.Context, writer *store.Writer, n world.Tick) error {
		_, tick = w.Submit(ctx, g.order(1))
		return g.tick(ctx, writer, n)
	}
	o.Applied = func(ctx context.Context, _ world.Outcome) {
		_, applied = w.Submit(ctx, g.order(1))
		wantError(t, g.Write(ctx, func(*store.Writer) {}), store.ErrPhase)
		wantError(t, w.Handoff(ctx, ""), store.ErrPhase)
		wantError(t, w.Close(ctx), store.ErrPhase)
		wantError(t, errorOf(w.Step(ctx)), store.ErrPhase)
	}
	w, err := world.Open(t.Context(), g.Store, world.Memory(), o)
	noError(t, err)
	steps(t, w, 1)
	mustClose(t, w)
	return tick, applied
}

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
		g := newGame(t, store.Options{})
		w := openWith(t, g, world.Memory(), func(o *world.Options) { o.InputBytes = 1 })
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
