package tasks

import (
	"sync"

	"golang.org/x/sync/errgroup"
)

var phases = sync.Pool{New: func() any { return new(phase) }}

// Other workers run the tasks of a worker lost to Goexit.
func (w *work) fresh(workers int) (err error) {
	p := phases.Get().(*phase)
	p.begin(*w, workers)

	var g errgroup.Group
	defer func() { // deferred: Goexit may end the caller
		_ = g.Wait() // the phase keeps the lowest error
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
