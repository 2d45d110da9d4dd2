package tasks

import (
	"runtime"
	"sync/atomic"

	"handloom/internal/seam"
)

// The bounds of spinning are numbers of looks at a word in memory, because a
// clock stands still under virtual time. A look takes about 2 ns.
const (
	// spins is how often an idle worker, and a caller that waits for its
	// workers, look before they park: about as long as a parked goroutine
	// takes to begin again on a virtual machine, 200 us. Half as often and the
	// gap=200us of BenchmarkPhase is lost, a fifth and other=70us to 220us of
	// BenchmarkAwait take 1.1 to 1.3 times as long.
	spins = 100_000

	// spinsPerYield keeps those short who need the processor of one that
	// spins, but is large enough for yielding not to delay the start of a
	// phase (task=5us of BenchmarkPhase).
	spinsPerYield = 1_000
)

// spinning counts the workers that spin, of all teams of the process: they
// compete for the same processors.
var spinning atomic.Int64

// worker is one member of a team.
type worker struct {
	workerPhase
	parked atomic.Bool   // whether a token on wake is needed
	wake   chan struct{} // holds one token; nil for the caller
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
		if w.claimed > 0 {
			t.replace(w)
		}
	}()
	for t.next(w) {
		t.phase.drain(&w.workerPhase)
		t.finishTasks(&w.workerPhase)
	}
}

// replace is called by a goroutine that Goexit ends inside a task. Another one
// takes the worker's place, before the phase can end.
func (t *team) replace(w *worker) {
	last := w.workerPhase
	w.claimed = 0
	t.start(w)
	t.finishTasks(&last)
}

// next returns true when there is a task the worker may claim, and false when
// the team is closed.
func (t *team) next(w *worker) bool {
	called := func() bool { return t.closed.Load() || t.phase.open(w.worker) }
	for !called() && !t.linger(called) {
		t.park(w, called)
	}
	return !t.closed.Load()
}

// linger spins until called says so, if another worker may spin at all.
func (t *team) linger(called func() bool) bool {
	defer spinning.Add(-1)
	return spinning.Add(1) <= int64(t.spinners) && spin(called)
}

// spin looks until it sees what it waits for, and reports whether it did. It
// yields now and then to goroutines that have something to do.
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

// park blocks until the worker is called. It says that it parks and then looks
// once more; who calls publishes first and then looks for parked workers. So
// one of them sees the other, and if both do, the swap decides whether there
// is a token to wait for.
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
