package main

import (
	"context"
	"testing"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// obeyAll carries out orders in a cell, one in a frame, and returns the last answer.
func obeyAll(t *testing.T, g *arena, orders ...order) (at cells.ID) {
	t.Helper()
	for _, o := range orders {
		_, err := g.store.Frame(t.Context(), func(_ context.Context, w *store.Writer) error {
			at = g.obey(w, world.Tick{Seed: 5 << 33}, o)
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
	for i, number := range []uint64{2, 1, 1, 3, 2, 4, 3} {
		if at := obeyAll(t, g, order{Number: number}); (at == 0) != (i == 0) {
			t.Errorf("order %d: the runner is in cell %v", number, at)
		}
	}
	for _, r := range g.runners.All() {
		if r.Done != 3 || r.X != 7 {
			t.Errorf("%d orders were carried out, want 3, two of them steps: %+v", r.Done, r)
		}
	}
}

// A runner at X 5 of cell 1 goes west, into the last cell of the row.
func TestObey_Crosses(t *testing.T) {
	g := newCell(t, 1)
	for n := uint64(1); n <= 6; n++ {
		if at := obeyAll(t, g, order{Number: n, Heading: 2}); at != 1 {
			t.Fatalf("order %d: the runner is in cell %v", n, at)
		}
	}
	at := obeyAll(t, g, order{Number: 7, Heading: 2})
	if all := g.leaving[columns]; at != columns || g.runners.Len() != 0 || len(all) != 1 || all[0].X != width-1 || all[0].Done != 7 {
		t.Errorf("the runner is in cell %v, %d remain, %+v leave", at, g.runners.Len(), g.leaving)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
