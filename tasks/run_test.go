package tasks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestRun_RunsEachTaskOnce(t *testing.T) {
	everyForm(t, func(t *testing.T, ctx context.Context, workers int) {
		for _, n := range []int{0, 1, 2, 3, 7, 64, 1000} {
			for _, weights := range [][]int64{nil, make([]int64, n)} {
				for i := range weights {
					weights[i] = int64(i%5) * inlineBelow
				}
				noError(t, runOnce(t, ctx, n, nothing, Options{Workers: workers, Weights: weights}))
			}
		}
	})
}

func TestRun_LowestErrorWins(t *testing.T) {
	first, second := errors.New("task 3"), errors.New("task 5")
	everyForm(t, func(t *testing.T, ctx context.Context, workers int) {
		for range 1000 {
			var secondFailed atomic.Bool
			err := runOnce(t, ctx, 8, func(task int) error {
				switch task {
				case 3: // lets task 5 fail first
					for i := 0; i < 10 && !secondFailed.Load(); i++ {
						runtime.Gosched()
					}
					return first
				case 5:
					secondFailed.Store(true)
					return second
				}
				return nil
			}, Options{Workers: workers})
			if err != first {
				t.Fatalf("got %v, want %v", err, first)
			}
		}
	})
}

func TestPanic_BecomesAnError(t *testing.T) {
	cause := errors.New("broken")
	everyForm(t, func(t *testing.T, ctx context.Context, workers int) {
		err := runOnce(t, ctx, 100, func(task int) error {
			if task%10 == 7 {
				panic(fmt.Errorf("task %d: %w", task, cause))
			}
			return nil
		}, Options{Workers: workers})
		var p *PanicError
		if !errors.As(err, &p) || p.Task != 7 || !errors.Is(err, cause) {
			t.Fatalf("got %v, want the *PanicError of task 7", err)
		}
		if !strings.Contains(string(p.Stack), "run_test.go") {
			t.Errorf("the stack does not lead to the panic:\n%s", p.Stack)
		}
		if got, want := err.Error(), "tasks: task 7 panicked: task 7: broken (in handloom/tasks.TestPanic_BecomesAnError.func1.1, run_test.go:"; !strings.HasPrefix(got, want) {
			t.Errorf("message %q, want %q", got, want)
		}
	})
}

func TestContext_EndsBeforeTheFirstTask(t *testing.T) {
	cause := errors.New("shutdown")
	everyForm(t, func(t *testing.T, ctx context.Context, workers int) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(cause)
		for _, whole := range []bool{false, true} {
			err := Run(ctx, 9, func(int) error {
				t.Error("a task ran")
				return nil
			}, Options{Workers: workers, Whole: whole})
			if !errors.Is(err, cause) || err.Error() != "tasks: 0 of 9 tasks ran: shutdown" {
				t.Errorf("got %v", err)
			}
			noError(t, Run(ctx, 0, nil, Options{Whole: whole}))
		}
	})
}

func TestContext_EndStopsTasks(t *testing.T) {
	const n = 10_000
	everyForm(t, func(t *testing.T, whole context.Context, workers int) {
		ctx, cancel := context.WithCancel(whole)
		var ran atomic.Int32
		err := Run(ctx, n, func(int) error {
			switch k := ran.Add(1); {
			case k == 10:
				cancel()
			case k > 10:
				<-ctx.Done() // taken before the end, so it runs
			}
			return nil
		}, Options{Workers: workers})
		want := fmt.Sprintf("tasks: %d of %d tasks ran: context canceled", ran.Load(), n)
		if !errors.Is(err, context.Canceled) || err.Error() != want {
			t.Errorf("got %v, want %v", err, want)
		}
		if got := int(ran.Load()); got >= 10+workers {
			t.Errorf("%d tasks ran, the 10th canceled, %d workers", got, workers)
		}
		noError(t, runOnce(t, whole, 9, nothing, Options{Workers: workers}))
	})
}

func TestContext_EndsWithoutEffect(t *testing.T) {
	everyForm(t, func(t *testing.T, ctx context.Context, workers int) {
		const n = 50
		for _, whole := range []bool{true, false} {
			ctx, cancel := context.WithCancel(ctx)
			var finished atomic.Int32
			err := runOnce(t, ctx, n, func(task int) error {
				// Without Whole, no task must be left.
				if finished.Add(1) == n || whole {
					cancel()
				}
				return nil
			}, Options{Workers: workers, Whole: whole})
			if err != nil {
				t.Errorf("whole %v: all tasks ran, but %v", whole, err)
			}
		}
	})
}

func TestGoexit_NamesTheTask(t *testing.T) {
	for _, workers := range []int{2, 3, 64} {
		t.Run(fmt.Sprintf("team=none/workers=%d", workers), func(t *testing.T) {
			goexitOnWorker(t, t.Context(), workers)
		})
		t.Run(fmt.Sprintf("team=%d", workers), func(t *testing.T) {
			inTeam(t, workers, func(ctx context.Context, _ *team) {
				for range 100 {
					goexitOnWorker(t, ctx, 2) // each time the replacement of worker 1
				}
			})
		})
	}
}

func goexitOnWorker(t *testing.T, ctx context.Context, workers int) {
	t.Helper()
	caller, m := goroutine(), meeting(2)
	var exited atomic.Int32
	err := runOnce(t, ctx, 100, func(task int) error {
		if task < 2 {
			m()
			if goroutine() != caller {
				exited.Store(int32(task))
				runtime.Goexit()
			}
		}
		return nil
	}, Options{Workers: workers})
	// With more than two workers both tasks may exit.
	want := fmt.Sprintf("tasks: task %d: task called runtime.Goexit", exited.Load())
	if !errors.Is(err, ErrGoexit) || workers == 2 && err.Error() != want {
		t.Fatalf("got %v, want ErrGoexit of task %d", err, exited.Load())
	}
}

func TestGoexit_EndsTheCallerLast(t *testing.T) {
	everyForm(t, func(t *testing.T, ctx context.Context, workers int) {
		ended := make(chan bool)
		go func() {
			returned := false
			defer func() { ended <- returned }()
			_ = runOnce(t, ctx, 300, func(task int) error {
				defer func() {
					if task%3 == 2 {
						panic("while Goexit unwinds")
					}
				}()
				if task%3 > 0 {
					runtime.Goexit()
				}
				return nil
			}, Options{Workers: workers})
			returned = true
		}()
		if <-ended && workers == 1 {
			t.Error("Run returned to a goroutine that called Goexit")
		}
		if team := teamOf(ctx); team != nil && team.busy.Load() {
			t.Error("the team is still busy")
		}
		if workers > 1 { // no worker is lost
			runMeeting(t, ctx, 2, Options{Workers: workers})
		}
	})
}

func TestWorkers_AreAtMostAskedFor(t *testing.T) {
	check := func(t *testing.T, ctx context.Context, ask, want int) {
		t.Helper()
		var now, peak atomic.Int32
		err := Run(ctx, 200, func(int) error {
			n := now.Add(1)
			for m := peak.Load(); n > m && !peak.CompareAndSwap(m, n); m = peak.Load() {
			}
			runtime.Gosched()
			now.Add(-1)
			return nil
		}, Options{Workers: ask})
		if err != nil || int(peak.Load()) > want {
			t.Errorf("asked for %d workers: %d at once, want at most %d; error %v", ask, peak.Load(), want, err)
		}
	}
	for ask := 1; ask <= 8; ask++ {
		check(t, t.Context(), ask, ask)
	}
	inTeam(t, 4, func(ctx context.Context, _ *team) {
		for range 50 {
			for ask := 1; ask <= 8; ask++ {
				check(t, ctx, ask, min(ask, 4))
			}
			check(t, ctx, 0, 4)
		}
	})
}

func TestWorkers_LargeTeamWorksAtOnce(t *testing.T) {
	const workers = 64
	runMeeting(t, t.Context(), workers, Options{Workers: workers})
	inTeam(t, workers, func(ctx context.Context, _ *team) {
		for range repeats(2000) {
			runMeeting(t, ctx, workers, Options{Workers: workers})
		}
	})
}

func TestWorkers_ZeroIsGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var order []int // no lock: one worker
	fn := func(task int) error {
		order = append(order, task)
		return nil
	}
	weights := []int64{inlineBelow, 2 * inlineBelow, 3 * inlineBelow}
	noError(t, Run(t.Context(), 3, fn, Options{Weights: weights}))
	if !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("with GOMAXPROCS 1 tasks ran in the order %v", order)
	}
	runtime.GOMAXPROCS(2)
	if runtime.GOMAXPROCS(0) == 1 {
		return // js has one thread
	}
	runMeeting(t, t.Context(), 2, Options{})
}

func TestRun_Misuse(t *testing.T) {
	fn := func(int) error { t.Error("a task ran"); return nil }
	none, inTeam := context.Context(nil), func(context.Context) error { return fn(0) }
	for what, err := range map[string]error{
		"Run":      Run(t.Context(), 3, fn, Options{Workers: -1}),
		"WithTeam": WithTeam(t.Context(), -1, inTeam),
	} {
		if err == nil || !strings.Contains(err.Error(), "-1 workers") {
			t.Errorf("%s with negative workers: %v", what, err)
		}
	}
	panics := map[string]func() error{
		"n = -1":          func() error { return Run(t.Context(), -1, fn, Options{}) },
		"2 weights for 3": func() error { return Run(t.Context(), 3, fn, Options{Weights: make([]int64, 2)}) },
		"tasks: Run with a nil context; give one":       func() error { return Run(none, 1, fn, Options{}) },
		"tasks: Run with a nil function; give one":      func() error { return Run(t.Context(), 2, nil, Options{}) },
		"tasks: WithTeam with a nil context; give one":  func() error { return WithTeam(none, 1, inTeam) },
		"tasks: WithTeam with a nil function; give one": func() error { return WithTeam(t.Context(), 1, nil) },
		"tasks: Loop.Run with a nil context; give one":  func() error { return new(Loop).Run(none, nil) },
		"tasks: Loop.Run with a nil function; give one": func() error { return new(Loop).Run(t.Context(), nil) },
	}
	if n := math.MaxInt; uint64(n) > math.MaxUint32 {
		panics["2^32-1"] = func() error { return Run(t.Context(), n, fn, Options{}) }
	}
	for want, call := range panics {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic with %q, want %q in it", got, want)
				}
			}()
			_ = call()
		})
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
