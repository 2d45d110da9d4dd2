package tasks

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/check"
	"handloom/internal/seam"
)

func TestTeam_RunsEveryTaskOfEveryPhaseOnce(t *testing.T) {
	for _, c := range []struct {
		name             string
		workers, callers int
		phases, tasks    int
		hook             func(at seam.Point, worker int)
	}{
		{"two workers", 2, 1, 200_000, 9, nil},
		{"many workers", 64, 1, 5_000, 9, nil},
		// The caller pauses, too: workers end phases.
		{"two workers, delayed", 2, 1, 50_000, 9, pauses(8)},
		{"five workers, delayed", 5, 1, 20_000, 9, pauses(8)},
		// Callers share a large team and pause at the end of phases.
		{"callers", 16, 3, 20_000, 40, func(at seam.Point, _ int) {
			if at == seam.BeforeEnd || rand.IntN(16) == 0 {
				runtime.Gosched()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			setHook(t, c.hook)
			inTeam(t, c.workers, func(ctx context.Context, _ *team) {
				var callers sync.WaitGroup
				for range c.callers {
					callers.Go(func() { manyPhases(t, ctx, repeats(c.phases), c.tasks) })
				}
				callers.Wait()
			})
		})
	}
}

func pauses(limit int) func(seam.Point, int) {
	return func(seam.Point, int) {
		for range rand.IntN(limit) {
			runtime.Gosched()
		}
	}
}

// Task 7 fails or panics.
func manyPhases(t *testing.T, ctx context.Context, phases, maxTasks int) {
	failed := errors.New("failed")
	ran := make(counts, maxTasks)
	var now atomic.Int64
	for phase := range int64(phases) {
		n := int(phase % int64(maxTasks+1))
		now.Store(phase)
		err := Run(ctx, n, func(task int) error {
			if now.Load() != phase {
				t.Errorf("a task of phase %d ran in phase %d", phase, now.Load())
			}
			switch ran[task].Add(1); {
			case task == 7 && phase/int64(maxTasks+1)%8 > 0:
				return failed
			case task == 7:
				panic(failed)
			}
			return nil
		}, Options{})
		if errors.Is(err, failed) != (n > 7) || err != nil && n <= 7 {
			t.Errorf("phase %d of %d tasks: %v", phase, n, err)
			return
		}
		for task := range ran {
			if got := ran[task].Swap(0); (task < n && got != 1) || (task >= n && got != 0) {
				t.Errorf("phase %d of %d tasks: task %d ran %d times", phase, n, task, got)
				return
			}
		}
	}
}

// The worker is held between setting its flag and its last look.
func TestTeam_LosesNoWakeUp(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	setHook(t, func(at seam.Point, worker int) {
		if at == seam.BeforePark {
			once.Do(func() {
				close(held)
				<-release
			})
		}
	})
	inTeam(t, 2, func(ctx context.Context, _ *team) {
		<-held
		m := meeting(2)
		err := Run(ctx, 3, func(task int) error {
			if task == 0 {
				close(release)
			}
			if task < 2 {
				m()
			}
			return nil
		}, Options{})
		noError(t, err)
	})
}

func TestTeam_WaitsForNoSleepingWorker(t *testing.T) {
	release := make(chan struct{})
	setHook(t, func(at seam.Point, worker int) {
		if worker != 0 {
			<-release
		}
	})
	inTeam(t, 4, func(ctx context.Context, _ *team) {
		for n := range 100 {
			noError(t, runOnce(t, ctx, n, nothing, Options{}))
		}
		close(release)
	})
}

// Time passes only while all goroutines are blocked: parked workers use no processor.
func TestTeam_IdleWorkersStayParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var parks atomic.Int64
		setHook(t, func(at seam.Point, _ int) {
			if at == seam.BeforePark {
				parks.Add(1)
			}
		})
		inTeam(t, 8, func(ctx context.Context, team *team) {
			for range 3 {
				synctest.Wait()
				before := parks.Load()
				time.Sleep(time.Hour)
				synctest.Wait()
				if got := parks.Load(); got != before {
					t.Errorf("%d workers woke without being called", got-before)
				}
				if got := team.parked.Load(); got != 7 {
					t.Errorf("%d of 7 idle workers are parked", got)
				}
				for i := range team.workers[1:] {
					if !team.workers[1+i].isParked() {
						t.Errorf("worker %d is not parked", 1+i)
					}
				}
				runMeeting(t, ctx, 8, Options{})
			}
		})
	})
}

func TestTeam_VirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		inTeam(t, 4, func(ctx context.Context, _ *team) {
			for range 5 {
				// A bound by the clock would spin forever.
				noError(t, Run(ctx, 4, func(int) error { time.Sleep(time.Second); return nil }, Options{}))
			}
		})
		_ = Run(t.Context(), 4, func(int) error { time.Sleep(time.Second); return nil }, Options{Workers: 4})
		if d := time.Since(start); d != 6*time.Second {
			t.Errorf("six phases of four sleeping tasks took %v, want 6s", d)
		}
	})
}

func TestTeam_WakesOneWorkerPerTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inTeam(t, 8, func(ctx context.Context, team *team) {
			synctest.Wait()
			_ = Run(ctx, 3, func(task int) error {
				if got := team.parked.Load(); task == 0 && got < 5 {
					t.Errorf("%d workers left parked, want 5 or more", got)
				}
				return nil
			}, Options{})
		})
	})
}

func TestTeam_LittleWorkWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inTeam(t, 2, func(ctx context.Context, team *team) {
			synctest.Wait() // the worker has parked
			phases := func(weights ...int64) uint64 {
				before := team.phase.word.Load() >> 32
				_ = Run(ctx, len(weights), nothing, Options{Weights: weights})
				synctest.Wait()
				return team.phase.word.Load()>>32 - before
			}
			if little, enough := phases(wakeBelow-2, 1), phases(wakeBelow-1, 1); little != 0 || enough != 1 {
				t.Errorf("parked: %d phases for little work, %d for enough", little, enough)
			}
			team.parked.Add(-1) // as if it were spinning
			if little, enough := phases(inlineBelow-2, 1), phases(inlineBelow-1, 1); little != 0 || enough != 1 {
				t.Errorf("spinning: %d phases for little work, %d for enough", little, enough)
			}
			team.parked.Add(1)
		})
	})
}

func TestTeam_BoundsSpinners(t *testing.T) {
	never := func() bool { t.Error("looked"); return false }
	none := &team{spinners: 0}
	if none.linger(never) {
		t.Error("spun without a processor to spare")
	}

	one := &team{spinners: 1}
	looking, done := make(chan struct{}), make(chan struct{})
	var once sync.Once
	result := make(chan bool)
	go func() {
		result <- one.linger(func() bool {
			once.Do(func() { close(looking); <-done })
			return true
		})
	}()
	<-looking
	if one.linger(never) {
		t.Error("the second worker spun")
	}
	close(done)
	if !<-result {
		t.Error("the first worker did not spin")
	}
	if got := spinning.Load(); got != 0 {
		t.Errorf("%d workers are said to spin", got)
	}
}

func TestTeam_OneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	inTeam(t, 4, func(ctx context.Context, team *team) {
		if team.spinners != 0 {
			t.Errorf("%d workers may spin", team.spinners)
		}
		manyPhases(t, ctx, repeats(20_000), 9)
	})
}

func TestTeam_BusyUntilThePhaseEnds(t *testing.T) {
	var had *team
	ends := 0
	setHook(t, func(at seam.Point, _ int) {
		if at != seam.BeforeEnd {
			return
		}
		if ends++; !had.busy.Load() {
			t.Error("the team is free before the phase has ended")
		}
	})
	inTeam(t, 3, func(ctx context.Context, its *team) {
		had = its
		for range 10 {
			noError(t, Run(ctx, 40, nothing, Options{}))
		}
	})
	if ends != 10 {
		t.Errorf("%d phases have ended, want 10", ends)
	}
}

func TestRun_InsideATaskIsInline(t *testing.T) {
	inTeam(t, 2, func(ctx context.Context, _ *team) {
		ran := make(counts, 40)
		err := Run(ctx, 4, func(outer int) error {
			next := 0 // no lock: inner tasks run on this goroutine
			return Run(ctx, 10, func(inner int) error {
				if inner != next {
					t.Errorf("inner task %d, want %d", inner, next)
				}
				next++
				ran[outer*10+inner].Add(1)
				return nil
			}, Options{})
		}, Options{})
		noError(t, err)
		ran.checkOnce(t)
	})
}

func TestWithTeam_NestedUsesTheOuter(t *testing.T) {
	failed := errors.New("failed")
	inTeam(t, 2, func(ctx context.Context, outer *team) {
		err := WithTeam(ctx, 16, func(ctx context.Context) error {
			if teamOf(ctx) != outer {
				t.Error("another team")
			}
			return failed
		})
		if err != failed {
			t.Errorf("got %v", err)
		}
		if teamOf(ctx) != outer {
			t.Error("the end of the nested team ended the outer one")
		}
	})
}

func TestWithTeam_EndedContextHasNone(t *testing.T) {
	var kept context.Context
	inTeam(t, 2, func(ctx context.Context, _ *team) { kept = ctx })
	if teamOf(kept) != nil {
		t.Fatal("the team outlived its function")
	}
	runMeeting(t, kept, 2, Options{Workers: 2}) // starts goroutines
	noError(t, WithTeam(kept, 2, func(ctx context.Context) error {
		if teamOf(ctx) == nil {
			t.Error("no new team")
		}
		return nil
	}))
}

// A Run may have the team while WithTeam ends.
func TestWithTeam_EndDuringRunLosesNoTask(t *testing.T) {
	for range repeats(2000) {
		done := make(chan struct{})
		inTeam(t, 3, func(ctx context.Context, _ *team) {
			begun := make(chan struct{})
			go func() {
				defer close(done)
				close(begun)
				_ = runOnce(t, ctx, 20, nothing, Options{Workers: 3})
			}()
			<-begun
		})
		<-done
	}
}

// Workers are held until everything else is blocked.
func TestWithTeam_AlwaysJoins(t *testing.T) {
	for name, end := range map[string]func(context.Context) error{
		"return": func(context.Context) error { return nil },
		"panic":  func(context.Context) error { panic("stop") },
		"goexit": func(context.Context) error { runtime.Goexit(); return nil },
		"goexit in a task": func(ctx context.Context) error {
			return Run(ctx, 20, func(int) error { runtime.Goexit(); return nil }, Options{Workers: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held, release := make(chan struct{}, 3), make(chan struct{})
				setHook(t, func(at seam.Point, worker int) {
					if at == seam.BeforePark {
						select {
						case held <- struct{}{}:
						default:
						}
						<-release
					}
				})
				var ended atomic.Bool
				var recovered any
				go func() {
					defer func() {
						recovered = recover()
						ended.Store(true)
					}()
					_ = WithTeam(t.Context(), 4, func(ctx context.Context) error {
						for range cap(held) {
							<-held
						}
						return end(ctx)
					})
				}()
				synctest.Wait()
				if ended.Load() {
					t.Error("WithTeam did not join its workers")
				}
				close(release)
				synctest.Wait()
				if want := map[bool]any{true: "stop"}[name == "panic"]; !ended.Load() || recovered != want {
					t.Errorf("ended %v, recovered %v, want %v", ended.Load(), recovered, want)
				}
			})
		})
	}
}

// testing.AllocsPerRun would set GOMAXPROCS to 1.
func TestRun_SteadyStateAllocatesNothing(t *testing.T) {
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate")
	}
	const phases = 2000
	weights := make([]int64, 100)
	for i := range weights {
		weights[i] = int64(i) * inlineBelow
	}
	measure := func(ctx context.Context, name string, n int, o Options) {
		t.Helper()
		var before, after runtime.MemStats
		for _, stats := range []*runtime.MemStats{&before, &after} {
			for range phases {
				_ = Run(ctx, n, nothing, o)
			}
			runtime.ReadMemStats(stats)
		}
		if got := after.Mallocs - before.Mallocs; got > phases/20 {
			t.Errorf("%s: %d allocations in %d phases", name, got, phases)
		}
	}
	measure(t.Context(), "inline", 100, Options{Workers: 1})
	inTeam(t, 2, func(ctx context.Context, _ *team) {
		cancelable, cancel := context.WithCancel(ctx)
		defer cancel()
		measure(ctx, "one task", 1, Options{})
		measure(ctx, "team", 100, Options{Workers: 2})
		measure(cancelable, "cancelable", 100, Options{})
		measure(ctx, "weights", 100, Options{Weights: weights})
		measure(ctx, "whole", 100, Options{Whole: true})
	})
}
