package world_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

func TestFollower_LoadsSnapshotAfterTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		open := func(l world.Log) (*game, *world.World) {
			g := newGame(t, store.Options{})
			return g, openWith(t, g, l, func(o *world.Options) { o.SnapshotTicks = 20 })
		}
		leader, w := open(shared)
		follower, v := open(&faulty{Log: shared, load: func(ctx context.Context, at uint64) (io.ReadCloser, error) {
			select {
			case <-time.After(time.Second): // longer than the election timeout
				return shared.Load(ctx, at)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}})
		stepsSaving(t, w, 100)
		ctx := within(t, 100*time.Millisecond)
		if _, err := v.Step(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a Step that ends while a snapshot is loaded: %v", err)
		}
		for v.Status().Tick < 100 {
			mustStep(t, v)
		}
		wantSame(t, leader, follower)
		mustClose(t, v, w)
	})
}

func TestOpen_RetriesDroppedSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		w := mustOpen(t, newGame(t, store.Options{}), l)
		steps(t, w, 20)
		mustClose(t, w)
		outdated := true
		v := mustOpen(t, newGame(t, store.Options{}), &faulty{Log: l, saved: func(ctx context.Context) ([]uint64, error) {
			if outdated {
				outdated = false
				return []uint64{1}, nil // dropped since
			}
			return l.Snapshots(ctx)
		}})
		s := v.Status()
		failIf(t, s.Tick != 20 || outdated, "%v", s)
		mustClose(t, v)
	})
}

func TestFollower_SavesNothingOlderAfterSkip(t *testing.T) {
	for follows := 9; follows < 18; follows++ { // before the copy, while it is held, and while it is saved
		synctest.Test(t, func(t *testing.T) { skipsAheadBehind(t, follows) })
	}
}

func skipsAheadBehind(t *testing.T, follows int) {
	shared := world.Memory()
	open := func(l world.Log) *world.World {
		return openWith(t, newGame(t, store.Options{}), l, func(o *world.Options) { o.SnapshotTicks, o.DigestTicks = 20, 4 })
	}
	var saves []uint64 // positions
	var mutex sync.Mutex
	w := open(shared)
	v := open(&faulty{Log: shared, save: func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
		mutex.Lock()
		saves = append(saves, at)
		mutex.Unlock()
		time.Sleep(time.Second)
		return shared.Save(ctx, at, write)
	}})
	for range follows {
		steps(t, w, 1)
		mustStep(t, v)
	}
	stepsSaving(t, w, 100)
	mutex.Lock()
	before := len(saves)
	mutex.Unlock()
	mustStep(t, v)
	skipped := v.Status()
	if skipped.Tick <= uint64(follows)+1 || skipped.SavedTick < skipped.Tick-1 {
		t.Errorf("%d ticks followed: at tick %d, and knows of a snapshot of tick %d", follows, skipped.Tick, skipped.SavedTick)
	}
	for v.Status().Tick < w.Status().Tick {
		mustStep(t, v)
	}
	mustClose(t, v)
	for _, at := range saves[before:] {
		failIf(t, at < skipped.SavedTick, "%d ticks followed: after the snapshot of tick %d it saves record %d", follows, skipped.SavedTick, at)
	}
	mustClose(t, w)
}

// The snapshot is saved, although older records stay.
func TestTrim_FailureIsNotAFailedSave(t *testing.T) {
	for name, shared := range map[string]bool{"a log with a lock": false, "a shared log": true} {
		inBubble(t, name, func(t *testing.T) {
			l := world.Log(untrimmable{world.Memory()})
			if !shared {
				l = locked{l}
			}
			w := mustOpen(t, newGame(t, alone), l)
			stepsSaving(t, w, 16)
			s := w.Status()
			failIf(t, s.SavedTick != 14 || s.SaveErr == "", "%v", s)
			h := handOff(within(t, time.Minute), w, "second")
			u := w
			if shared {
				u = openWith(t, newGame(t, alone), l, version("second", true))
				mustStep(t, u)
			}
			wantHanded(t, h, nil)
			mustClose(t, w)
			if shared {
				steps(t, u, 3)
				mustClose(t, u)
			}
		})
	}
}

type untrimmable struct{ world.Log }

func (untrimmable) Trim(context.Context, uint64) error { return errLost }
