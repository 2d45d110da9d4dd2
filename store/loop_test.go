package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
)

// played runs a loop under virtual time until it has run n ticks, each of which
// takes as long as it is given, and returns when they began.
func played(t *testing.T, l *store.Loop, n int, takes func(tick uint64) time.Duration) (began []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		enough := errors.New("enough")
		wantError(t, "Run returned", l.Run(t.Context(), func(_ context.Context, tick uint64) error {
			equal(t, "tick", int(tick), len(began))
			began = append(began, time.Since(begin))
			time.Sleep(takes(tick))
			if len(began) == n {
				return enough
			}
			return nil
		}), enough)
	})
	return began
}

func milliseconds(n ...int) (all []time.Duration) {
	for _, n := range n {
		all = append(all, time.Duration(n)*time.Millisecond)
	}
	return all
}

func TestLoop_KeepsItsRate(t *testing.T) {
	var l store.Loop
	began := played(t, &l, 601, func(tick uint64) time.Duration { return time.Duration(tick%16) * time.Millisecond })
	for tick, at := range began {
		if want := (time.Duration(tick)*time.Second + 59) / 60; at != want || l.Dropped() != 0 {
			t.Fatalf("tick %d began at %v, want %v; %d were dropped", tick, at, want, l.Dropped())
		}
	}
	// It slows down if every tick takes too long.
	l = store.Loop{Hz: 10, MaxCatchUp: 3}
	began = played(t, &l, 100, func(uint64) time.Duration { return 200 * time.Millisecond })
	if n := l.Dropped(); began[99] != 99*200*time.Millisecond || n < 90 || n > 99 {
		t.Errorf("tick 99 began at %v, %d ticks were dropped, want one for each but the first few", began[99], n)
	}
}

// stall makes tick 1 take as long as is given, and the others no time.
func stall(d time.Duration) func(tick uint64) time.Duration {
	return func(tick uint64) time.Duration {
		if tick == 1 {
			return d
		}
		return 0
	}
}

func TestLoop_CatchesUpToItsLimit(t *testing.T) {
	for _, c := range []struct {
		catchUp int
		began   []time.Duration // at 10 Hz, when tick 1 takes 350 ms
		dropped uint64
	}{
		{5, milliseconds(0, 100, 450, 450, 450, 500, 600), 0},
		{2, milliseconds(0, 100, 450, 450, 450, 500, 600), 0},
		{1, milliseconds(0, 100, 450, 450, 500, 600, 700), 1},
		{0, milliseconds(0, 100, 450, 500, 600, 700, 800), 2},
	} {
		l := store.Loop{Hz: 10, MaxCatchUp: c.catchUp}
		if began := played(t, &l, 7, stall(350*time.Millisecond)); !slices.Equal(began, c.began) || l.Dropped() != c.dropped {
			t.Errorf("MaxCatchUp %d: ticks began at %v and %d were dropped, want %v and %d",
				c.catchUp, began, l.Dropped(), c.began, c.dropped)
		}
	}
}

func TestLoop_OutlastsAStallOfYears(t *testing.T) {
	const year = 365 * 24 * time.Hour
	l := store.Loop{Hz: 100_000}
	began := played(t, &l, 4, stall(10*year))
	step := 10 * time.Microsecond
	equalLists(t, "begins of ticks", began, 0, step, 10*year+step, 10*year+2*step)
}

func TestLoop_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := errors.New("closing")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(249*time.Millisecond, func() { cancel(closing) })
		ticks := 0
		l := store.Loop{Hz: 10}
		begin := time.Now()
		err := l.Run(ctx, func(context.Context, uint64) error {
			ticks++
			return nil
		})
		if !errors.Is(err, closing) || ticks != 3 || time.Since(begin) != 249*time.Millisecond {
			t.Errorf("%d ticks, then %v after %v", ticks, err, time.Since(begin))
		}
		wantError(t, "with a context that has ended", l.Run(ctx, func(context.Context, uint64) error { panic("a tick") }), closing)
	})
}

func TestLoop_RefusesBadOptions(t *testing.T) {
	l := store.Loop{Hz: -1, MaxCatchUp: -2}
	err := l.Run(t.Context(), func(context.Context, uint64) error { panic("a tick") })
	want := "store: Loop: Hz -1 is outside 1..1000000000; 0 means 60\nstore: Loop: MaxCatchUp -2 is negative; 0 means no tick is caught up on"
	if err == nil || err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
}
