package world_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"handloom/internal/entrance"
	"handloom/store"
	"handloom/world"
)

// repeat makes each tick with input run several times. created counts the items that runs see as
// created by calls.
func repeat(t *testing.T, g *game, runs int, created *int) func(o *world.Options) {
	return func(o *world.Options) {
		tick := o.Tick
		o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
			redo := entrance.RedoOf(ctx)
			if redo == nil {
				return tick(ctx, w, at)
			}
			for _, table := range []string{"order", "hit"} {
				has := redo.HasInput(func(name string) bool { return name == table })
				failIf(t, has != (table == "order"), "HasInput(%q): got %t", table, has)
			}
			failIf(t, !redo.Save(ctx), "Save fails before the first flush")
			redo.OnError(func(err error) bool { return errors.Is(err, errGame) && redo.Attempt < runs-1 })
			if _, err := g.Flush(ctx); err != nil {
				return err
			}
			for range store.Created(g.units) {
				*created++
			}
			if err := tick(ctx, w, at); err != nil || redo.Attempt == runs-1 {
				return err
			}
			panic(errGame)
		}
	}
}

// A tick runs again from the state before it with its whole input: calls count once, each run
// lists the items that they created, and all Worlds reach the states of a tick that runs once.
func TestRedo_RepeatsTickWithItsInput(t *testing.T) {
	const runs, ticks = 3, 12
	for name, shadow := range map[string]float64{"once": 0, "with Shadow": 1} {
		inBubble(t, name, func(t *testing.T) {
			plain, w0 := newWorld(t, alone, world.Memory())
			l, leader, follower := world.Memory(), newGame(t, alone), newGame(t, store.Options{Workers: 2})
			var created, again int
			w1 := mustOpen(t, leader, l, func(o *world.Options) {
				o.Shadow = shadow
				repeat(t, leader, runs, &created)(o)
			})
			w2 := mustOpen(t, follower, l, repeat(t, follower, runs, &again))
			for n := range ticks {
				calls := []*submission{submit(t.Context(), w0, plain.order(3*n)), submit(t.Context(), w1, leader.order(3*n))}
				stepEach(t, w0, w1, w2)
				synctest.Wait()
				for _, s := range calls {
					wantApplied(t, s, uint64(n+1))
				}
			}
			wantTicks(t, follower, ticks)
			wantSame(t, plain, leader)
			wantSame(t, leader, follower)
			equal(t, "created items that the leader's runs saw", created, ticks*runs*(1+int(shadow)))
			equal(t, "created items that the follower's runs saw", again, ticks*runs)
			crash(t, w0, w1, w2)
		})
	}
}

// A flush before Save has applied the input, so the tick cannot run again.
func TestRedo_SaveFailsAfterFlush(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		g := newGame(t, alone)
		w := mustOpen(t, g, world.Memory(), func(o *world.Options) {
			o.Tick = func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
				_, err := g.Flush(ctx)
				redo := entrance.RedoOf(ctx)
				failIf(t, redo.Save(ctx), "Save after a flush")
				return errors.Join(err, errGame)
			}
		})
		s := submit(t.Context(), w, g.order(1))
		wantError(t, errorOf(w.Step(t.Context())), world.ErrTick, errGame)
		synctest.Wait()
		failIf(t, !s.done || !errors.Is(s.err, world.ErrTick), "Submit: %v", s.err)
		crash(t, w)
	})
}
