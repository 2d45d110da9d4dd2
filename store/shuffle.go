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

// Shuffle has the tasks of every pass and flush begin in an order that is drawn
// anew each time, from seed, and has workers give way to each other between
// tasks. It is for tests: a program whose tasks depend on one another is found
// out even on one worker, and what a correct one computes stays the same. It
// costs memory and time for each task.
//
// Shuffle is called between phases, by the goroutine that flushes; while a phase
// is open it is [ErrPhase]. It stays in force.
func (s *Store) Shuffle(seed uint64) error {
	s.made("Shuffle")
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: Shuffle: %w: a phase is open; call it before the first one or between two", ErrPhase)
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

// order says which of the n tasks of a step runs in place of which; nil: each in its
// own.
func (s *Store) order(n int) func(task int) int {
	switch {
	case s.shuffle != nil:
		return s.shuffle(n)
	case seam.Step != nil:
		return seam.Step(n)
	}
	return nil
}

// runInOrder runs the n tasks of a step, each in place of another. The error is that
// of the lowest task, as in any order.
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
	for _, of := range errs {
		if of != nil {
			return of
		}
	}
	return err
}
