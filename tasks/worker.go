package tasks

import (
	"runtime"
	"sync/atomic"

	"handloom/internal/seam"
)

// Bounds of spinning, in looks at a word in memory, because a clock does not advance under virtual time.
// A look takes about 2 ns.
const (
	// spins is the number of looks before a worker or caller parks: about 200 us, the time
	// a parked goroutine takes to start on a virtual machine. Half as many lose gap=200us
	// of BenchmarkPhase.
	spins = 100_000

	// spinsPerYield is small enough for goroutines that need the processor, and large
	// enough not to delay a phase (task=5us of BenchmarkPhase).
	spinsPerYield = 1_000
)

// spinning is the number of spinning workers of the process, which compete for processors.
var spinning atomic.Int64

// worker is one member of a team.
type worker struct {
	workerPhase
	parked atomic.Bool   // needs a token on wake
	wake   chan struct{} // capacity 1; nil for the caller
	_      [cacheLine]byte
}

func (t *team) start(w *worker) {
	t.group.Go(func() error {
		t.serve(w)
		return nil
	})
}

// serve runs phases until the team is closed.
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

// replace starts another goroutine for the worker before the phase can end, when Goexit
// ends this one.
func (t *team) replace(w *worker) {
	last := w.workerPhase
	w.taken = 0
	t.start(w)
	t.finishTasks(&last)
}

func (t *team) next(w *worker) bool {
	called := func() bool { return t.closed.Load() || t.phase.open(w.worker) }
	for !called() && !t.linger(called) {
		t.park(w, called)
	}
	return !t.closed.Load()
}

func (t *team) linger(called func() bool) bool {
	defer spinning.Add(-1)
	return spinning.Add(1) <= int64(t.spinners) && spin(called)
}

// spin sometimes yields.
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

// park blocks until the worker is called. It sets the flag before the last look, and
// callers publish before they look at the flag; the swap decides if both see each other.
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

func (w *worker) isParked() bool { return w.parked.Load() }

// unpark reports whether the worker was parked.
func (w *worker) unpark(t *team) bool {
	if !w.parked.CompareAndSwap(true, false) {
		return false
	}
	t.parked.Add(-1)
	w.wake <- struct{}{}
	return true
}
