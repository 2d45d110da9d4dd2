package world_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

// A tick that looks at what the frame before did finds nothing, live as behind a
// snapshot that knows nothing of it.
func TestATickBeginsClean(t *testing.T) {
	l := world.Memory()
	looks := func(g *game) world.Options {
		o := g.options()
		o.Tick = func(ctx context.Context, w *store.Writer, tick world.Tick) error {
			seen := 0
			for range store.Created(g.units) {
				seen++
			}
			for range store.Erased(g.units) {
				seen++
			}
			for range store.Replaced(g.units) {
				seen++
			}
			for _, c := range g.camps.All() {
				c.Born += seen
			}
			return g.tick(ctx, w, tick)
		}
		return o
	}
	g := newGame(t, store.Options{})
	w, err := world.Open(t.Context(), g.Store, l, looks(g))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		steps(t, w, 5)
		mustClose(t, w) // with a snapshot
		h := newGame(t, store.Options{})
		if w, err = world.Open(t.Context(), h.Store, l, looks(h)); err != nil {
			t.Fatal(err)
		}
		g = h
	}
	mustClose(t, w)
	for _, c := range g.camps.All() {
		if c.Born != 0 {
			t.Errorf("a tick saw %d changes of the one before", c.Born)
		}
	}
	if err := world.Replay(t.Context(), g.Store, l, looks(g), 15); err != nil {
		t.Error(err)
	}
}

// The time of a tick is never less than that before, whatever the clock says: here that
// of a bubble, which begins in the year 2000.
func TestTimeNeverGoesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	j := openJournal(t, dir)
	g := newGame(t, store.Options{})
	w := mustOpen(t, g, j)
	steps(t, w, 3)
	crash(t, w)
	mustCloseJournal(t, j)
	synctest.Test(t, func(t *testing.T) {
		j := openJournal(t, dir)
		h := newGame(t, store.Options{})
		w := mustOpen(t, h, j)
		steps(t, w, 2)
		if before, now := h.seen[2], h.seen[4]; !now.Time.Equal(before.Time) || before.Time != g.seen[2].Time {
			t.Errorf("tick 5 is of %v, and tick 3 was of %v", now.Time, before.Time)
		}
		mustClose(t, w)
		mustCloseJournal(t, j)
	})
}
