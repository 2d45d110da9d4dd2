package tasks

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

// played returns the start times of n ticks under virtual time.
func played(t *testing.T, l *Loop, n int, takes func(tick uint64) time.Duration) (began []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		equal(t, "Run returned", l.Run(t.Context(), func(_ context.Context, tick uint64) error {
			equal(t, "tick", int(tick), len(began))
			began = append(began, time.Since(begin))
			time.Sleep(takes(tick))
			if len(began) == n {
				return context.Canceled
			}
			return nil
		}), context.Canceled)
	})
	return began
}

func equal(t *testing.T, what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func milliseconds(n ...int) (all []time.Duration) {
	for _, n := range n {
		all = append(all, time.Duration(n)*time.Millisecond)
	}
	return all
}

func TestLoop_KeepsItsRate(t *testing.T) {
	var l Loop
	began := played(t, &l, 601, func(tick uint64) time.Duration { return time.Duration(tick%16) * time.Millisecond })
	for tick, at := range began {
		if want := (time.Duration(tick)*time.Second + 59) / 60; at != want || l.Dropped() != 0 {
			t.Fatalf("tick %d began at %v, want %v; %d were dropped", tick, at, want, l.Dropped())
		}
	}
	// The rate drops if every tick takes too long.
	l = Loop{Hz: 10, MaxCatchUp: 3}
	began = played(t, &l, 100, func(uint64) time.Duration { return 200 * time.Millisecond })
	if n := l.Dropped(); began[99] != 99*200*time.Millisecond || n < 90 || n > 99 {
		t.Errorf("tick 99 began at %v, %d ticks were dropped, want one for each but the first few", began[99], n)
	}
}

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
		began   []time.Duration
		dropped uint64
	}{
		{5, milliseconds(0, 100, 450, 450, 450, 500, 600), 0},
		{2, milliseconds(0, 100, 450, 450, 450, 500, 600), 0},
		{1, milliseconds(0, 100, 450, 450, 500, 600, 700), 1},
		{0, milliseconds(0, 100, 450, 500, 600, 700, 800), 2},
	} {
		l := Loop{Hz: 10, MaxCatchUp: c.catchUp}
		equal(t, "begins of ticks", played(t, &l, 7, stall(350*time.Millisecond)), c.began)
		equal(t, "dropped", l.Dropped(), c.dropped)
		// An engine with the same delay runs the same number of ticks at once.
		l, at := Loop{Hz: 10, MaxCatchUp: c.catchUp}, time.Unix(1, 0)
		var steps []time.Duration
		for _, d := range milliseconds(0, 99, 100, 450, 449, 500, 600, 700, 800) {
			ticks, _ := l.Steps(at.Add(d))
			steps = append(steps, slices.Repeat([]time.Duration{d}, ticks)...)
		}
		equal(t, "steps", steps[:7], c.began)
		equal(t, "dropped", l.Dropped(), c.dropped)
	}
}

func TestLoop_OutlastsAStallOfYears(t *testing.T) {
	const year = 365 * 24 * time.Hour
	l := Loop{Hz: 100_000}
	step := 10 * time.Microsecond
	equal(t, "begins of ticks", played(t, &l, 4, stall(10*year)), []time.Duration{0, step, 10*year + step, 10*year + 2*step})
}

func TestLoop_StepsCountDueTicks(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := Loop{Hz: rapid.IntRange(1, 200).Draw(r, "Hz"), MaxCatchUp: rapid.IntRange(0, 4).Draw(r, "MaxCatchUp")}
		began, passed, ran := time.Unix(rapid.Int64Range(0, 1e9).Draw(r, "began"), 7), time.Duration(0), 0
		period := float64(time.Second) / float64(l.Hz)
		for range 50 {
			ticks, alpha := l.Steps(began.Add(passed))
			ran += ticks
			due := int(int64(passed)*int64(l.Hz)/int64(time.Second)) + 1
			part := float64(passed)/period - float64(due-1)
			if ticks < 0 || ticks > 1+l.MaxCatchUp || ran+int(l.Dropped()) != due || alpha < 0 || alpha >= 1 || math.Abs(alpha-part) > 1e-6 {
				r.Fatalf("after %v: %d ticks and %v, %d run, %d dropped, want %d together and %v", passed, ticks, alpha, ran, l.Dropped(), due, part)
			}
			passed += time.Duration(rapid.Int64Range(0, int64(3*period)).Draw(r, "pause"))
		}
	})
	l, at := Loop{Hz: 100_000}, time.Unix(0, 0)
	_, _ = l.Steps(at)
	for i, c := range []struct {
		now   time.Time
		ticks int
		alpha float64
	}{{at.Add(-time.Hour), 0, 0}, {at.AddDate(200, 0, 0), 1, 0}, {at, 0, 0}, {at.AddDate(200, 0, 0).Add(5 * time.Microsecond), 0, 0.5}} {
		ticks, alpha := l.Steps(c.now)
		equal(t, fmt.Sprint("ticks of call ", i), ticks, c.ticks)
		equal(t, fmt.Sprint("alpha of call ", i), alpha, c.alpha)
	}
}

func TestLoop_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := errors.New("closing")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(249*time.Millisecond, func() { cancel(closing) })
		ticks := 0
		l := Loop{Hz: 10}
		begin := time.Now()
		err := l.Run(ctx, func(context.Context, uint64) error {
			ticks++
			return nil
		})
		if !errors.Is(err, closing) || ticks != 3 || time.Since(begin) != 249*time.Millisecond {
			t.Errorf("%d ticks, then %v after %v", ticks, err, time.Since(begin))
		}
		equal(t, "with a context that has ended", l.Run(ctx, func(context.Context, uint64) error { panic("a tick") }), closing)
	})
}

func TestLoop_RefusesBadOptions(t *testing.T) {
	fastest := Loop{Hz: 1_000_000_000}
	equal(t, "the highest rate", fastest.Run(t.Context(), func(context.Context, uint64) error { return context.Canceled }), context.Canceled)
	l := Loop{Hz: -1, MaxCatchUp: -2}
	want := "tasks: Loop: Hz -1 is outside 1..1000000000; 0 means 60\ntasks: Loop: MaxCatchUp -2 is negative; 0 means no catch-up"
	equal(t, "error of Run", fmt.Sprint(l.Run(t.Context(), func(context.Context, uint64) error { panic("a tick") })), want)
	defer func() { equal(t, "panic of Steps", fmt.Sprint(recover()), want) }()
	l.Steps(time.Now())
}
