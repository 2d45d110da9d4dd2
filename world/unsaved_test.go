package world_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// deep is a type of nested values; snapshots allow 1,000 levels.
type deep []deep

func deepOf(n int) (d deep) {
	for range n - 1 {
		d = deep{d}
	}
	return d
}

const (
	deepFrom  = 11
	deepUntil = 26
)

func openDeep(t *testing.T, l world.Log) (*world.World, *game) {
	t.Helper()
	g := newGame(t, store.Options{})
	table := store.Register(g.Store, store.TableOptions[deep]{Name: "deep", Clone: func(dst, src *deep) { *dst = *src }})
	o := g.options() // with a snapshot each 7 ticks
	o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
		switch at.Number {
		case deepFrom:
			table.Insert(w, deepOf(1001))
		case deepUntil:
			table.Clear(w)
		}
		return g.tick(ctx, w, at)
	}
	w, err := world.Open(t.Context(), g.Store, l, o)
	noError(t, err)
	return w, g
}

// The error reaches each caller, and the previous snapshot stays.
func TestSnapshot_UnsavableStateIsReported(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { reportsUnsaved(t, dir) })
}

func reportsUnsaved(t *testing.T, dir string) {
	l := openJournal(t, dir)
	w, g := openDeep(t, l)
	stepsSaving(t, w, deepFrom-1)
	saved, s := snapshotsOf(t, l), w.Status()
	failIf(t, len(saved) == 0 || s.SaveErr != "" || s.SavedTick == 0, "before: snapshots %v; %v", saved, s)
	tick := s.SavedTick
	stepsSaving(t, w, 10)
	s = w.Status()
	failIf(t, !strings.Contains(s.SaveErr, store.ErrSnapshot.Error()) || !strings.Contains(s.SaveErr, `"deep"`), "SaveErr %q, want ErrSnapshot with the table", s.SaveErr)
	equal(t, "saved tick", s.SavedTick, tick)
	wantUnsaved(t, "Export", w.Export(t.Context(), io.Discard))
	want := digest(t, g)
	err := w.Close(t.Context())
	wantUnsaved(t, "Close", err)
	wantError(t, err, journal.ErrRefused)
	mustCloseJournal(t, l)

	l = openJournal(t, dir)
	now := snapshotsOf(t, l)
	failIf(t, !slices.Equal(now, saved), "snapshots %v, want %v", now, saved)
	w, g = openDeep(t, l)
	got := digest(t, g)
	failIf(t, got != want || w.Status().Tick != s.Tick, "opened again at tick %d with digest %x, want tick %d with %x", w.Status().Tick, got, s.Tick, want)
	stepsSaving(t, w, deepUntil+7-int(s.Tick))
	s = w.Status()
	failIf(t, s.SaveErr != "" || s.SavedTick < deepUntil, "after the item is erased: %v", s)
	mustClose(t, w)
}

func wantUnsaved(t *testing.T, op string, err error) {
	t.Helper()
	failIf(t, !errors.Is(err, store.ErrSnapshot) || !strings.Contains(err.Error(), `table "deep"`), "%s: got %v, want ErrSnapshot with the table", op, err)
}
