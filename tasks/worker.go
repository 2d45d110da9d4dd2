package tasks

import (
	"runtime"
	"sync/atomic"

	"handloom/internal/seam"
)

// Bounds of spinning, counted in looks at a word in memory, because virtual time does
// not advance. A look takes about 2 ns.
const (
	// spins is the number of looks before an idle worker or a waiting caller parks: about
	// 200 us, the time a parked goroutine takes to start on a virtual machine. With half as
	// many, gap=200us of BenchmarkPhase is lost, and a fifth makes other=70us to 220us of
	// BenchmarkAwait 1.1 to 1.3 times as long.
	spins = 100_000

	// spinsPerYield is small enough for goroutines that need the processor of a spinning
	// one, and large enough not to delay the start of a phase (task=5us of BenchmarkPhase).
	spinsPerYield = 1_000
)

// spinning is the number of spinning workers of all teams of the process, which compete for
// the same processors.
var spinning atomic.Int64

// worker is one member of a team.
type worker struct {
	workerPhase
	parked atomic.Bool   // a token on wake is needed
	wake   chan struct{} // capacity 1; nil for the caller
	_      [cacheLine]byte
}

// start gives the worker a goroutine.
func (t *team) start(w *worker) {
	t.group.Go(func() error {
		t.serve(w)
		return nil
	})
}

// serve runs tasks of one phase after another until the team is closed.
func (t *team) serve(w *worker) {
	defer func() {
		if w.taken > 0 {
			t.replace(w)
		}
	}()
	for t.next(w) {
		t.phase.drain(&w.workerPhase)
		t.finishTasks(&w.workerPhase)
	}
}

// replace starts another goroutine for the worker before the phase can end. It runs on a
// goroutine that Goexit ends inside a task.
func (t *team) replace(w *worker) {
	last := w.workerPhase
	w.taken = 0
	t.start(w)
	t.finishTasks(&last)
}

// next returns true if the worker may take a task, and false if the team is closed.
func (t *team) next(w *worker) bool {
	called := func() bool { return t.closed.Load() || t.phase.open(w.worker) }
	for !called() && !t.linger(called) {
		t.park(w, called)
	}
	return !t.closed.Load()
}

// linger spins until called returns true, if the process may have one more spinning worker.
func (t *team) linger(called func() bool) bool {
	defer spinning.Add(-1)
	return spinning.Add(1) <= int64(t.spinners) && spin(called)
}

// spin looks until seen returns true, and reports whether it did. It sometimes yields to
// other goroutines.
func spin(seen func() bool) bool {
	for i := 1; i <= spins; i++ {
		if seen() {
			return true
		}
		if i%spinsPerYield == 0 {
			runtime.Gosched()
		}
	}
	return false
}

// park blocks until the worker is called. It sets the flag and then looks once more; a
// caller publishes first and then looks at the flag. So one of them sees the other. If both
// do, the swap decides whether a token follows.
func (t *team) park(w *worker, called func() bool) {
	t.parked.Add(1)
	w.parked.Store(true)
	if seam.Worker != nil {
		seam.Worker(seam.BeforePark, w.worker)
	}
	if called() && w.parked.CompareAndSwap(true, false) {
		t.parked.Add(-1)
		return
	}
	<-w.wake
}

// isParked reports whether the worker waits, or is about to wait, for a token.
func (w *worker) isParked() bool { return w.parked.Load() }

// unpark wakes the worker and reports whether it was parked.
func (w *worker) unpark(t *team) bool {
	if !w.parked.CompareAndSwap(true, false) {
		return false
	}
	t.parked.Add(-1)
	w.wake <- struct{}{}
	return true
}
