package world_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

func TestFollower_LoadsSnapshotAfterTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		open := func(l world.Log) (*game, *world.World) {
			return newWorld(t, store.Options{}, l, func(o *world.Options) { o.SnapshotTicks = 20 })
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

// A snapshot is dropped after the list: newer ones have replaced it, or nodes that start together
// replace each other's snapshot of one record.
func TestOpen_RetriesDroppedSnapshots(t *testing.T) {
	for name, outdated := range map[string]bool{"newer ones are there": true, "the same is there again": false} {
		inBubble(t, name, func(t *testing.T) {
			l, gone := world.Memory(), 3
			w := mustOpen(t, newGame(t, alone), l)
			steps(t, w, 20)
			mustClose(t, w)
			v := mustOpen(t, newGame(t, alone), &faulty{Log: l, saved: func(ctx context.Context) ([]uint64, error) {
				if outdated {
					outdated, gone = false, 1
					return []uint64{1}, nil
				}
				return l.Snapshots(ctx)
			}, load: func(ctx context.Context, at uint64) (io.ReadCloser, error) {
				if gone--; gone >= 0 {
					return nil, fs.ErrNotExist
				}
				return l.Load(ctx, at)
			}})
			failIf(t, v.Status().Tick != 20 || gone >= 0, "%v, %d loads fail", v.Status(), gone)
			mustClose(t, v)
		})
	}
}

func TestFollower_SavesNothingOlderAfterSkip(t *testing.T) {
	for follows := 9; follows < 18; follows++ { // before the copy, while it is held, and while it is saved
		synctest.Test(t, func(t *testing.T) { skipsAheadBehind(t, follows) })
	}
}

func skipsAheadBehind(t *testing.T, follows int) {
	shared := world.Memory()
	open := func(l world.Log) *world.World {
		return mustOpen(t, newGame(t, store.Options{}), l, func(o *world.Options) { o.SnapshotTicks, o.DigestTicks = 20, 4 })
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
			l := world.Log(&faulty{Log: world.Memory(), trim: func(context.Context, uint64) error { return errLost }})
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
				u = mustOpen(t, newGame(t, alone), l, version("second", true))
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
	return mustOpen(t, g, l, func(o *world.Options) { // with a snapshot each 7 ticks
		o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
			switch at.Number {
			case deepFrom:
				table.Insert(w, deepOf(1001))
			case deepUntil:
				table.Clear(w)
			}
			return g.tick(ctx, w, at)
		}
	}), g
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
	noError(t, l.Close())

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

func TestTrim_EndsAtSecondSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := newRotten()
		l := &faulty{Log: shared, saved: func(ctx context.Context) ([]uint64, error) {
			saved, err := shared.Snapshots(ctx)
			if len(saved) == 2 {
				saved = append(saved, 0) // listed but unreadable
			}
			return saved, err
		}}
		w := mustOpen(t, newGame(t, store.Options{}), l)
		stepsSaving(t, w, 23)
		s := w.Status()
		failIf(t, s.SaveErr != "" || shared.trimmed < 2, "%d trims, want 2 or more; %v", shared.trimmed, s)
		mustClose(t, w)
	})
}
