package main

import (
	"context"
	"testing"

	"handloom/store"
	"handloom/world"
)

// play runs ticks with an order of every player, some of them twice.
func play(t *testing.T, workers, players, ticks int) *arena {
	t.Helper()
	ctx := t.Context()
	g := newArena(workers)
	tick := world.Tick{}
	for range ticks {
		tick.Number++
		tick.Seed = tick.Number * 0x9e3779b97f4a7c15
		noError(t, g.store.Inbox(func(q store.Queue) error {
			for player := range uint64(players) {
				o := orderOf(player, tick.Number)
				for range 1 + tick.Number%2 {
					g.orders.Emplace(q, o)
				}
			}
			return nil
		}))
		_, err := g.store.Frame(ctx, func(ctx context.Context, w *store.Writer) error { return g.tick(ctx, w, tick) })
		noError(t, err)
	}
	return g
}

func orderOf(player, number uint64) order {
	draw := (player*31 + number) * 0x9e3779b97f4a7c15 >> 40
	return order{Player: player, Number: number, Turn: heading(draw & 3), Step: true, Fire: draw&12 == 0}
}

func TestArena_IgnoresWorkers(t *testing.T) {
	const players, ticks = 40, 300
	var digests []uint64
	for _, workers := range []int{1, 2, 8} {
		g := play(t, workers, players, ticks)
		d, err := g.store.Digest(t.Context())
		noError(t, err)
		digests = append(digests, d)
		var hits, deaths int32
		for _, f := range g.fighters.All() {
			if f.Done != ticks {
				t.Errorf("player %d: %d orders were carried out of %d", f.Player, f.Done, ticks)
			}
			hits += f.Hits
			deaths += f.Deaths
		}
		if g.fighters.Len() != players || hits < 10 || deaths == 0 {
			t.Errorf("%d fighters, %d hits, %d deaths: nothing goes on here", g.fighters.Len(), hits, deaths)
		}
	}
	if digests[0] != digests[1] || digests[0] != digests[2] {
		t.Errorf("digests with 1, 2 and 8 workers: %x", digests)
	}
}

func TestArena_RefusesDisorder(t *testing.T) {
	g := newArena(1)
	for _, numbers := range [][]uint64{{2}, {1, 1, 3, 2}, {2, 4}, {3}} {
		_ = g.store.Inbox(func(q store.Queue) error {
			for _, n := range numbers {
				g.orders.Emplace(q, order{Player: 7, Number: n})
			}
			return nil
		})
		if _, err := g.store.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error { return g.tick(ctx, w, world.Tick{}) }); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range g.fighters.All() {
		if f.Player != 7 || f.Done != 3 {
			t.Errorf("player %d has had %d orders carried out", f.Player, f.Done)
		}
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
