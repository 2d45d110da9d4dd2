package schedule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"handloom/internal/check"
	"handloom/tasks"
)

type atWork struct{ now, peak atomic.Int64 }

func (a *atWork) work() {
	n := a.now.Add(1)
	for most := a.peak.Load(); n > most && !a.peak.CompareAndSwap(most, n); most = a.peak.Load() {
	}
	runtime.Gosched()
	a.now.Add(-1)
}

func TestFrame_LimitsGoroutines(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		var a atWork
		pass := func(ctx context.Context) error {
			return tasks.Run(ctx, 20, func(int) error { a.work(); return nil }, tasks.Options{Workers: workers})
		}
		systems := []System{{Name: "alone", Run: pass}}
		for i := range 5 {
			systems = append(systems, System{Name: fmt.Sprint(i), After: []string{"alone"}, Run: pass})
		}
		s := newSchedule(t, systems...)
		for range 20 {
			noError(t, s.Run(t.Context(), Run{Workers: workers}))
			inTeam(t, workers, func(ctx context.Context) {
				noError(t, s.Run(ctx, Run{Workers: 2 * workers}))
			})
		}
		if most := a.peak.Load(); most > int64(workers) {
			t.Errorf("%d goroutines at work with %d workers", most, workers)
		}
	}
}

func TestFrame_WaveRunsAtOnceAndPassesInline(t *testing.T) {
	meet := meeting(2)
	system := func(ctx context.Context) error {
		meet()
		home := goroutine()
		return tasks.Run(ctx, 50, func(int) error {
			if goroutine() != home {
				return errors.New("a pass of a busy team has left its goroutine")
			}
			return nil
		}, tasks.Options{})
	}
	s := newSchedule(t, System{Name: "a", Run: system}, System{Name: "b", Run: system})
	noError(t, s.Run(t.Context(), Run{Workers: 2}))
}

func TestShuffle_KeepsTheFirstError(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	begun := map[string]bool{}
	for range 200 {
		systems := []System{{Name: "a"}, {Name: "b", Run: fails}, {Name: "c", Run: fails}, {Name: "d"}}
		got, err := recorded(t, t.Context(), Run{Workers: 1, Shuffle: random.Perm}, systems...)
		var failed *SystemError
		if !errors.As(err, &failed) || failed.System != "b" {
			t.Fatalf("the error is %v, want that of b", err)
		}
		begun[strings.Join(got, "")] = true
		if slices.Sort(got); strings.Join(got, "") != "abcd" {
			t.Fatalf("%v ran", got)
		}
	}
	if len(begun) < 20 {
		t.Errorf("200 shuffles gave %d orders of 24", len(begun))
	}
}

func TestGoexit_NamesTheSystemOrEndsTheCaller(t *testing.T) {
	meet, home := meeting(2), goroutine()
	leave := func(context.Context) error {
		meet()
		if goroutine() != home {
			runtime.Goexit()
		}
		return nil
	}
	s := newSchedule(t, System{Name: "a", Run: leave}, System{Name: "b", Run: leave})
	err := s.Run(t.Context(), Run{Workers: 2})
	if !errors.Is(err, tasks.ErrGoexit) || !errors.As(err, new(*SystemError)) {
		t.Errorf("the error is %v", err)
	}

	var wg sync.WaitGroup
	ran := 0 // no lock: Wait orders the goroutines
	s = newSchedule(
		t, System{Name: "a", Run: func(context.Context) error { runtime.Goexit(); return nil }},
		System{Name: "b", Run: func(context.Context) error { ran++; return nil }},
	)
	wg.Go(func() {
		_ = s.Run(t.Context(), Run{Workers: 1})
		t.Error("Run returned")
	})
	if wg.Wait(); ran != 1 {
		t.Error("the other system of the wave did not run")
	}
	wg.Go(func() { _ = s.Run(t.Context(), Run{Workers: 1}) }) // panics if the first frame still runs
	wg.Wait()
}

func TestFrame_AllocatesNothingInATeam(t *testing.T) {
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate")
	}
	var systems []System
	for i := range 10 {
		systems = append(systems, System{Name: fmt.Sprint(i), Writes: on(Resource(i % 3)), Emits: on(Resource(5))})
	}
	s := newSchedule(t, systems...)
	inTeam(t, 2, func(ctx context.Context) {
		frame := func() {
			noError(t, s.Run(ctx, Run{Flush: func(context.Context, []Resource) error { return nil }}))
		}
		frame()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 1000 {
			frame()
		}
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 100 {
			t.Errorf("1000 frames allocate %d objects", n)
		}
	})
}

func TestTimings_CoverTheLastRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frame := 0
		s := newSchedule(t, System{Name: "slow", Run: func(context.Context) error {
			time.Sleep(time.Duration(frame) * time.Millisecond)
			return nil
		}}, System{Name: "rare", If: func() bool { return frame%100 == 0 }}, System{Name: "never", If: func() bool { return false }})
		for frame = 1; frame <= 300; frame++ {
			noError(t, s.Run(t.Context(), Run{Workers: 1}))
		}
		ms := time.Millisecond // the last 128 took 173 to 300 ms
		want := Timings{
			{System: "slow", Runs: 128, Last: 300 * ms, P50: 236 * ms, P99: 299 * ms, Max: 300 * ms},
			{System: "rare", Runs: 3},
			{System: "never"},
		}
		got := s.Timings()
		if !slices.Equal(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		if line := "slow   128 runs  p50 236ms  p99 299ms  max 300ms\n"; !strings.HasPrefix(got.String(), line) {
			t.Errorf("in words: %s", got)
		}
	})
}

func TestTimings_ReadDuringAFrame(t *testing.T) {
	s := newSchedule(t, System{Name: "a"})
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			_ = s.Timings()
		}
	})
	for range 100 {
		noError(t, s.Run(t.Context(), Run{}))
	}
	wg.Wait()
}

func TestFrame_TraceNamesSystems(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	s := newSchedule(t, System{Name: "steering-of-boids"})
	err := s.Run(t.Context(), Run{})
	trace.Stop()
	if err != nil || !bytes.Contains(b.Bytes(), []byte("steering-of-boids")) {
		t.Errorf("a trace of %d bytes does not name the system; %v", b.Len(), err)
	}
}

func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
