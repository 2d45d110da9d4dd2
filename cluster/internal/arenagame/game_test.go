package arenagame

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"handloom/store"
	"handloom/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play plays ticks, each with an order of every player, which is sent twice now and
// then, and returns the game.
func play(t *testing.T, workers, players, ticks int) *Game {
	t.Helper()
	ctx := t.Context()
	g, err := New(workers)
	if err != nil {
		t.Fatal(err)
	}
	tick := world.Tick{}
	for range ticks {
		tick.Number++
		tick.Seed = tick.Number * 0x9e3779b97f4a7c15
		if err := g.Store.Inbox(func(q store.Queue) error {
			for player := range uint64(players) {
				o := order(player, tick.Number)
				for range 1 + tick.Number%2 {
					g.Orders.Emplace(q, o)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := g.Store.Write(ctx, func(ctx context.Context, w *store.Writer) error { return g.tick(ctx, w, tick) }); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func order(player, number uint64) Order {
	draw := (player*31 + number) * 0x9e3779b97f4a7c15 >> 40
	return Order{Player: player, Number: number, Turn: Heading(draw & 3), Step: true, Fire: draw&12 == 0}
}

func TestTheArenaIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	const players, ticks = 40, 300
	var digests []uint64
	for _, workers := range []int{1, 2, 8} {
		g := play(t, workers, players, ticks)
		d, err := g.Store.Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, d)
		var hits, deaths int32
		for _, f := range g.Fighters.All() {
			if f.Done != ticks {
				t.Errorf("player %d: %d orders were carried out of %d", f.Player, f.Done, ticks)
			}
			hits += f.Hits
			deaths += f.Deaths
		}
		if g.Fighters.Len() != players || hits < 10 || deaths == 0 {
			t.Errorf("%d fighters, %d hits, %d deaths: nothing goes on here", g.Fighters.Len(), hits, deaths)
		}
	}
	if digests[0] != digests[1] || digests[0] != digests[2] {
		t.Errorf("digests with 1, 2 and 8 workers: %x", digests)
	}
}

func TestAnOrderOutOfTurnIsNotCarriedOut(t *testing.T) {
	g, err := New(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, numbers := range [][]uint64{{2}, {1, 1, 3, 2}, {2, 4}, {3}} {
		_ = g.Store.Inbox(func(q store.Queue) error {
			for _, n := range numbers {
				g.Orders.Emplace(q, Order{Player: 7, Number: n})
			}
			return nil
		})
		if err := g.Store.Write(t.Context(), func(ctx context.Context, w *store.Writer) error { return g.tick(ctx, w, world.Tick{}) }); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range g.Fighters.All() {
		if f.Player != 7 || f.Done != 3 {
			t.Errorf("player %d has had %d orders carried out", f.Player, f.Done)
		}
	}
}
