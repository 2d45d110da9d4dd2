package view_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/view"
	"handloom/world"
)

// A world's Applied updates clients, also on a follower, and no tick is missed: one item enters or
// leaves in each Delta.
func TestView_FollowsAWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := world.Memory()
		join := func() (*world.World, map[handle]unit) {
			s := store.New(store.Options{})
			units := store.Register(s, store.TableOptions[unit]{Name: "unit", Changes: true})
			v, has := view.New(units, keep), map[handle]unit{}
			c := v.Client()
			w, err := world.Open(t.Context(), s, log, world.Options{
				Hz: 10,
				Tick: func(ctx context.Context, w *store.Writer, tick world.Tick) error {
					units.Insert(w, unit{int(tick.Number)})
					return units.ForEach(ctx, func(c store.Chunk[unit]) {
						for i, u := range c.Items {
							if u.N+5 == int(tick.Number) {
								c.Erase(i)
							}
						}
					})
				},
				Applied: func(ctx context.Context, _ world.Outcome) {
					_ = s.Read(ctx, func(ctx context.Context) error {
						v.Advance(ctx)
						d := c.Update(ctx, keys(units.All()))
						n := 0
						for h, u := range d.Entered {
							has[h] = *u
							n++
						}
						for h := range d.Changed {
							t.Errorf("Delta %d: %v changed", d.Number, h)
						}
						for h := range d.Left {
							delete(has, h)
						}
						if n != 1 && !d.Reset || len(has) != units.Len() {
							t.Errorf("Delta %d (reset %t): %d entered; the mirror has %d of %d", d.Number, d.Reset, n, len(has), units.Len())
						}
						return c.Acknowledge(d.Number)
					})
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			return w, has
		}
		leader, first := join()
		follower, second := join()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 2)
		for _, w := range []*world.World{leader, follower} {
			go func() { done <- w.Run(ctx) }()
		}
		time.Sleep(5 * time.Second)
		stop()
		_, _ = <-done, <-done
		if err := errors.Join(leader.Close(t.Context()), follower.Close(t.Context())); err != nil {
			t.Error(err)
		}
		if len(first) != 5 || len(second) != 5 {
			t.Errorf("the mirrors have %v and %v", first, second)
		}
	})
}
