package tasks

import (
	"sync"

	"golang.org/x/sync/errgroup"
)

// phases keeps the memory of runs without a team.
var phases = sync.Pool{New: func() any { return new(phase) }}

// fresh shares the work with goroutines of its own. A worker lost to Goexit is
// not replaced: the others, and in the end the caller, run what is left.
func (w *work) fresh(workers int) (err error) {
	p := phases.Get().(*phase)
	p.begin(*w, workers)

	var g errgroup.Group
	defer func() { // deferred, because Goexit may end the caller
		_ = g.Wait() // errors go through the phase, which keeps the lowest
		err = p.end()
		phases.Put(p)
	}()
	for i := 1; i < workers; i++ {
		g.Go(func() error {
			p.drain(&workerPhase{worker: i, task: idle})
			return nil
		})
	}
	p.drain(&workerPhase{worker: 0, task: idle})
	return nil
}
