package world_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"handloom/store"
	"handloom/world"
)

// Followers save snapshots so that the owner need not pause, which does when nobody else
// has.
func TestFollowersSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		counting := func(n *int) world.Log {
			return &faulty{Log: shared, save: func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
				*n++
				return shared.Save(ctx, at, write)
			}}
		}
		open := func(workers int, saves *int) *world.World {
			g := newGame(t, store.Options{Workers: workers})
			o := g.options()
			o.SnapshotTicks, o.DigestTicks = 20, 4
			w, err := world.Open(t.Context(), g.Store, counting(saves), o)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		var owned, followed int
		w, v := open(1, &owned), open(2, &followed)
		owned = 0 // but for the first state
		for range 200 {
			steps(t, w, 1)
			steps(t, v, 1)
			synctest.Wait()
		}
		if owned != 0 || followed < 200/15 || followed > 200/10 {
			t.Errorf("of 200 ticks, with a snapshot after 20, the owner has saved %d and the follower %d", owned, followed)
		}
		if own, follows := w.Status(), v.Status(); own.SavedTick+40 < 200 || own.SavedTick > follows.SavedTick {
			t.Errorf("the owner knows of a snapshot of tick %d, and the follower has saved tick %d", own.SavedTick, follows.SavedTick)
		}
		crash(t, v)
		for range 200 {
			steps(t, w, 1)
			synctest.Wait()
		}
		if owned < 200/20-1 || owned > 200/20 {
			t.Errorf("of 200 ticks, with a snapshot after 20, the owner, whom nobody follows, has saved %d", owned)
		}
		mustClose(t, w)
	})
}

// A follower that differs and does not know it yet saves nothing that others recover from.
func TestAFollowerSavesWhatWasCompared(t *testing.T) {
	for wrong := uint64(1); wrong <= 30; wrong++ {
		synctest.Test(t, func(t *testing.T) { savesWhatWasCompared(t, wrong) })
	}
}

func savesWhatWasCompared(t *testing.T, wrong uint64) {
	shared := world.Memory()
	open := func(g *game) *world.World {
		o := g.options()
		o.SnapshotTicks, o.DigestTicks = 20, 4
		w, err := world.Open(t.Context(), g.Store, shared, o)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	g, drifting, after := newGame(t, store.Options{}), newGame(t, store.Options{}), newGame(t, store.Options{})
	drifting.drifts(wrong)
	w, v := open(g), open(drifting)
	var err error
	for err == nil && v.Status().Tick < 40 {
		steps(t, w, 1)
		_, err = v.Step(t.Context())
		synctest.Wait()
	}
	if !errors.Is(err, world.ErrDiverged) {
		t.Errorf("wrong from tick %d: the follower is at %v: %v", wrong, v.Status(), err)
	}
	crash(t, v)
	crash(t, w)
	u := open(after)
	got, err1 := after.Digest(t.Context())
	want, err2 := g.Digest(t.Context())
	if got != want || err1 != nil || err2 != nil {
		t.Errorf("wrong from tick %d: recovered is %x, and the owner had %x (%v, %v)", wrong, got, want, err1, err2)
	}
	mustClose(t, u)
}
