package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"

	"handloom/internal/seam"
	"handloom/tasks"
)

// Shuffle makes the tasks of every pass and flush begin in a random order from seed, and
// makes workers yield between tasks. It is for tests: it detects tasks that depend on one
// another even with one worker, and does not change the results of correct programs. It
// costs memory and time per task.
//
// The goroutine that flushes calls it between phases; while a phase is open it is
// [ErrPhase]. It stays on.
func (s *Store) Shuffle(seed uint64) error {
	s.made("Shuffle")
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: Shuffle: %w: a phase is open; call it outside phases", ErrPhase)
	}
	defer s.gate.release(false)
	var lock sync.Mutex // passes of systems run at the same time
	random := rand.New(rand.NewPCG(seed, 0))
	s.shuffle = func(n int) func(task int) int {
		lock.Lock()
		order := random.Perm(n)
		lock.Unlock()
		return func(i int) int {
			runtime.Gosched()
			return order[i]
		}
	}
	return nil
}

// order returns the function that maps the n tasks of a step to their order, or nil for
// the natural order.
func (s *Store) order(n int) func(task int) int {
	switch {
	case s.shuffle != nil:
		return s.shuffle(n)
	case seam.Step != nil:
		return seam.Step(n)
	}
	return nil
}

// runInOrder runs the n tasks of a step in the given order. It returns the error of the
// lowest task, as in any order.
func (s *Store) runInOrder(ctx context.Context, n int, task func(int) error, instead func(task int) int) error {
	errs := make([]error, n)
	err := tasks.Run(ctx, n, func(i int) error {
		i, returned := instead(i), false
		defer func() {
			if value := recover(); value != nil {
				errs[i] = &PanicError{Task: i, Value: value, Stack: debug.Stack()}
			} else if !returned {
				errs[i] = fmt.Errorf("store: task %d: %w", i, ErrGoexit)
			}
		}()
		errs[i] = task(i)
		returned = true
		return nil
	}, tasks.Options{Workers: s.options.Workers, Whole: true})
	for _, failed := range errs {
		if failed != nil {
			return failed
		}
	}
	return err
}
