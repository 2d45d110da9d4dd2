package world_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

func TestAppend_OlderSnapshotIsNotATrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		g, w := newWorld(t, alone, l)
		steps(t, w, 7)
		synctest.Wait() // the snapshot has the last record
		equal(t, "newest snapshot", snapshotsOf(t, l)[0], w.Status().Position)
		l.append = func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			l.append, l.read = nil, func(context.Context, uint64, func(uint64, []byte) error) error {
				l.read = nil
				return errLost
			}
			return 0, errors.Join(errorOf(l.Log.Append(ctx, prev, rec)), errLost)
		}
		s := submit(t.Context(), w, g.order(1))
		steps(t, w, 1)
		synctest.Wait()
		wantApplied(t, s, 8)
		equal(t, "terms", w.Status().Term, 1)
		mustClose(t, w)
	})
}

func TestRun_EndsAfterRunningAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		slow := false
		l := &faulty{Log: shared, append: func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
			if slow {
				select {
				case <-time.After(500 * time.Millisecond):
				case <-ctx.Done():
					return 0, context.Cause(ctx)
				}
			}
			return shared.Append(ctx, prev, rec)
		}}
		g, w := newWorld(t, alone, l)
		slow = true
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		s := submit(t.Context(), w, g.order(1))
		go func() { done <- w.Run(ctx) }()
		time.Sleep(200 * time.Millisecond) // during the append
		stop()
		wantError(t, <-done, context.Canceled)
		synctest.Wait()
		failIf(t, !s.done || s.err != nil || w.Status().Tick != 1, "Submit: done %t, %v; tick %d, want 1", s.done, s.err, w.Status().Tick)
		crash(t, w)
	})
}

func TestShadow_RunsFractionOfTicksTwice(t *testing.T) {
	for shadow, want := range map[float64]int{0.25: 50, 0.75: 70, 1: 80} {
		synctest.Test(t, func(t *testing.T) {
			g := newGame(t, store.Options{})
			ticks := 0
			g.fault = func(world.Tick) error {
				ticks++
				return nil
			}
			w := openWith(t, g, world.Memory(), func(o *world.Options) { o.Shadow = shadow })
			steps(t, w, 40)
			equal(t, fmt.Sprint("runs with Shadow ", shadow), ticks, want)
			mustClose(t, w)
		})
	}
}

func TestShadow_FailureOfTheFirstRunCounts(t *testing.T) {
	g := newGame(t, store.Options{})
	failing := true
	g.fault = func(world.Tick) error {
		defer func() { failing = false }()
		return map[bool]error{true: errGame}[failing]
	}
	w := openWith(t, g, world.Memory(), func(o *world.Options) { o.Shadow = 1 })
	wantError(t, errorOf(w.Step(t.Context())), world.ErrTick)
	mustClose(t, w)
}

func TestTakeover_IgnoresReplayedTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		open := func() *world.World {
			return openWith(t, newGame(t, alone), l, func(o *world.Options) { o.SnapshotTicks = 1000 })
		}
		for range 4 {
			w := open()
			steps(t, w, 2)
			time.Sleep(time.Minute)
			crash(t, w)
		}
		w := open()
		begin := time.Now()
		steps(t, w, 1)
		took := time.Since(begin)
		failIf(t, took > l.ElectionTimeout(), "the takeover took %v, want %v", took, l.ElectionTimeout())
		crash(t, w)
	})
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
