package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/store"
)

// orderOf returns the order in which the tasks of a pass begin; s has one worker.
func orderOf(t *testing.T, s *store.Store, n int) []int {
	t.Helper()
	var order []int
	err := s.Each(t.Context(), n, func(_ context.Context, task int, _ store.Queue) error {
		order = append(order, task)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return order
}

func TestShuffledTasksAllRunInAnOrderThatTheSeedDecides(t *testing.T) {
	var orders [][]int
	for _, seed := range []uint64{1, 1, 2} {
		s := newStore(t, store.Options{Workers: 1})
		if err := s.Shuffle(seed); err != nil {
			t.Fatal(err)
		}
		first, second := orderOf(t, s, 40), orderOf(t, s, 40)
		if slices.IsSorted(first) || slices.Equal(first, second) {
			t.Errorf("seed %d: the orders are %v and %v", seed, first, second)
		}
		orders = append(orders, slices.Concat(first, second))
		if slices.Sort(first); !slices.Equal(first, orderOf(t, newStore(t, store.Options{Workers: 1}), 40)) {
			t.Errorf("seed %d: the tasks that ran are %v", seed, first)
		}
	}
	if !slices.Equal(orders[0], orders[1]) || slices.Equal(orders[0], orders[2]) {
		t.Errorf("the orders of seeds 1, 1 and 2 are %v", orders)
	}
}

// What a pass returns is no matter of the order of its tasks, however they fail.
func TestOfShuffledTasksTheErrorOfTheLowestIsReturned(t *testing.T) {
	fails := []func(task int) error{
		func(task int) error { return fmt.Errorf("task %d", task) },
		func(task int) error { panic(fmt.Sprint("task ", task)) },
	}
	for _, workers := range []int{1, 4} {
		s := newStore(t, store.Options{Workers: workers})
		if err := s.Shuffle(7); err != nil {
			t.Fatal(err)
		}
		for lowest := range 20 {
			var ran sync.Map
			err := s.Each(t.Context(), 20, func(_ context.Context, task int, _ store.Queue) error {
				ran.Store(task, true)
				if task >= lowest {
					return fails[task%2](task)
				}
				return nil
			})
			n := 0
			ran.Range(func(any, any) bool { n++; return true })
			var fault *store.PanicError
			want := fmt.Sprint("task ", lowest)
			if lowest%2 == 0 && err.Error() != want || n != 20 ||
				lowest%2 == 1 && (!errors.As(err, &fault) || fault.Task != lowest || fault.Value != want) {
				t.Fatalf("%d tasks ran, and the error is %v; want that of task %d", n, err, lowest)
			}
		}
	}
}

// It ends the goroutine of whichever worker runs it: the pass returns an error or,
// when that was the caller, does not return.
func TestAShuffledTaskThatEndsItsGoroutineIsAnErrorAndAllOthersRun(t *testing.T) {
	for _, workers := range []int{1, 4} {
		s := newStore(t, store.Options{Workers: workers})
		if err := s.Shuffle(7); err != nil {
			t.Fatal(err)
		}
		for exits := range 20 {
			var pass sync.WaitGroup
			var ran atomic.Int64
			pass.Go(func() {
				err := s.Each(t.Context(), 20, func(_ context.Context, task int, _ store.Queue) error {
					ran.Add(1)
					if task == exits {
						runtime.Goexit()
					}
					return nil
				})
				if want := fmt.Sprintf("task %d:", exits); !errors.Is(err, store.ErrGoexit) || !strings.Contains(err.Error(), want) || workers == 1 {
					t.Errorf("%d workers: %v; want an error of %s", workers, err, want)
				}
			})
			pass.Wait()
			if ran.Load() != 20 {
				t.Errorf("%d workers: %d tasks ran", workers, ran.Load())
			}
		}
		if err := s.Each(t.Context(), 3, func(context.Context, int, store.Queue) error { return nil }); err != nil {
			t.Errorf("%d workers, a pass afterwards: %v", workers, err)
		}
	}
}

func TestShuffleInsideAPhaseIsErrPhase(t *testing.T) {
	for kind := range joins {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		fill(t, s, table, 1)
		err := inside(s, table, kind, func(context.Context) {
			if err := s.Shuffle(1); !errors.Is(err, store.ErrPhase) {
				t.Errorf("inside %s: %v", kind, err)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}
