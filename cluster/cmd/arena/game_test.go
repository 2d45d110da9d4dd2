package main

import (
	"context"
	"testing"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// obeyAll carries out orders in a cell, one in a frame, and returns the answers.
func obeyAll(t *testing.T, g *arena, orders ...order) (at []cells.ID) {
	t.Helper()
	for _, o := range orders {
		_, err := g.store.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error {
			at = append(at, g.obey(w, world.Tick{Seed: 5 << 33}, o))
			return nil
		})
		noError(t, err)
	}
	return at
}

func newCell(t *testing.T, id cells.ID) *arena {
	t.Helper()
	g, err := newArena(1)
	noError(t, err)
	_, err = g.store.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error { return g.options(id).Init(ctx, w) })
	noError(t, err)
	return g
}

func TestObey_RefusesDisorder(t *testing.T) {
	g := newCell(t, 1)
	for i, at := range obeyAll(t, g, order{Number: 2}, order{Number: 1}, order{Number: 1}, order{Number: 3}, order{Number: 2}, order{Number: 4}, order{Number: 3}) {
		if (at == 0) != (i == 0) {
			t.Errorf("order %d: the fighter is in cell %v", i, at)
		}
	}
	for _, f := range g.fighters.All() {
		if f.Done != 3 {
			t.Errorf("%d orders were carried out, want 3", f.Done)
		}
	}
}

// A fighter at X 5 of cell 1 walks west, into the last cell of the row.
func TestObey_Crosses(t *testing.T) {
	g := newCell(t, 1)
	obeyAll(t, g, order{Number: 1})
	for n := uint64(2); n <= 6; n++ {
		if at := obeyAll(t, g, order{Number: n, Turn: 2, Step: true}); at[0] != 1 {
			t.Fatalf("order %d: the fighter is in cell %v", n, at)
		}
	}
	if at := obeyAll(t, g, order{Number: 7, Turn: 2, Step: true}); at[0] != columns || g.fighters.Len() != 0 || len(g.leaving) != 1 || g.leaving[0].to != columns || g.leaving[0].X != width-1 {
		t.Errorf("the fighter is in cell %v, %d remain, %+v leave", at, g.fighters.Len(), g.leaving)
	}
}

// The nearest fighter ahead is hit.
func TestObey_Shoots(t *testing.T) {
	g := newCell(t, 1)
	for player := range uint64(3) {
		obeyAll(t, g, order{Player: player, Number: 1})
		for step := range player {
			obeyAll(t, g, order{Player: player, Number: 2 + step, Step: true})
		}
	}
	obeyAll(t, g, order{Number: 2, Fire: true}, order{Number: 3, Fire: true}, order{Number: 4, Fire: true}, order{Number: 5, Turn: 2, Fire: true})
	for _, f := range g.fighters.All() {
		want := [3]fighter{{Hits: 3, Hull: fullHull}, {Deaths: 1, Hull: fullHull}, {Hull: fullHull}}[f.Player]
		if f.Hits != want.Hits || f.Deaths != want.Deaths || f.Hull != want.Hull {
			t.Errorf("player %d: %+v, want %+v", f.Player, f, want)
		}
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
