package tasks

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"handloom/internal/check"
)

// WithTeam calls fn with a context that carries a team of workers, and returns the error of
// fn. Every [Run] with that context, or one derived from it, uses the team. The caller
// counts as a worker. 0 means runtime.GOMAXPROCS(0); a negative number is an error.
//
// WithTeam joins the goroutines before it returns, also if fn panics or calls
// runtime.Goexit. A context kept after that carries no team. If ctx already carries a team,
// fn uses that team. WithTeam does not check whether ctx has ended.
//
// One Run at a time has the team. A second one runs inline; no Run ever waits for a team.
//
// An idle worker spins for a while, which makes it fast to start and keeps a processor
// busy. Then it parks, which costs nothing and makes it slow to start. So a team is for
// work with short gaps, such as the phases of one tick. If another program takes a worker's
// processor in the middle of a task, the caller waits.
func WithTeam(ctx context.Context, workers int, fn func(ctx context.Context) error) error {
	check.Given(ctx != nil, "tasks: WithTeam", "context")
	check.Given(fn != nil, "tasks: WithTeam", "function")
	if err := checkWorkers(workers); err != nil {
		return err
	}
	if teamOf(ctx) != nil {
		return fn(ctx)
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := newTeam(ctx, workers)
	defer t.close()
	return fn(context.WithValue(ctx, teamKey{}, t))
}

type teamKey struct{}

func teamOf(ctx context.Context) *team {
	t, _ := ctx.Value(teamKey{}).(*team)
	if t == nil || t.closed.Load() {
		return nil
	}
	return t
}

// team has a cache line of its own for fields polled by spinning workers.
type team struct {
	phase phase
	_     [cacheLine]byte

	// pending is the number of unfinished tasks, plus callerParks while the caller waits on
	// finished.
	pending atomic.Int64
	busy    atomic.Bool
	_       [cacheLine]byte

	closed   atomic.Bool
	parked   atomic.Int64 // parked workers, which call has to wake
	finished chan struct{}
	spinners int      // maximum for the process
	workers  []worker // by index; 0 is the caller of Run
	group    errgroup.Group
}

// callerParks is more than any number of tasks.
const callerParks = 1 << 40

func newTeam(ctx context.Context, workers int) *team {
	t := &team{
		finished: make(chan struct{}, 1),
		spinners: runtime.GOMAXPROCS(0) - 1,
		workers:  make([]worker, workers),
	}
	t.phase.team = ctx
	for i := range t.workers {
		w := &t.workers[i]
		w.workerPhase = workerPhase{worker: i, task: idle}
		if i > 0 {
			w.wake = make(chan struct{}, 1)
			t.start(w)
		}
	}
	return t
}

// close joins the goroutines.
func (t *team) close() {
	t.closed.Store(true)
	for i := range t.workers {
		t.workers[i].unpark(t)
	}
	_ = t.group.Wait() // the phase keeps the lowest error
}

// The caller has set busy.
func (t *team) run(w work, limit int) (err error) {
	defer func() { // deferred: Goexit may end the caller
		t.finishTasks(&t.workers[0].workerPhase)
		t.await()
		err = t.phase.end()
		t.busy.Store(false)
	}()
	t.pending.Store(int64(w.n))
	t.phase.begin(w, limit)
	t.call(limit)
	t.phase.drain(&t.workers[0].workerPhase)
	return nil
}

func (t *team) isSpinning() bool { return t != nil && t.parked.Load() < int64(len(t.workers)-1) }

// call wakes parked workers below the limit until one per task works, and does not wait for
// them.
func (t *team) call(limit int) {
	if t.parked.Load() == 0 {
		return
	}
	wanted := min(limit, t.phase.n) - 1
	for i := 1; i < limit; i++ {
		if !t.workers[i].isParked() {
			wanted--
		}
	}
	for i := 1; i < limit && wanted > 0; i++ {
		if t.workers[i].unpark(t) {
			wanted--
		}
	}
}

// The phase may end with it.
func (t *team) finishTasks(h *workerPhase) {
	taken := h.taken
	h.taken = 0
	if taken > 0 && t.pending.Add(-int64(taken)) == callerParks {
		t.finished <- struct{}{}
	}
}

func (t *team) await() {
	done := func() bool { return t.pending.Load() == 0 }
	if t.spinners > 0 && spin(done) {
		return
	}
	// The addition decides for both sides whether tasks were pending.
	if t.pending.Add(callerParks) > callerParks {
		<-t.finished
	}
	t.pending.Store(0)
}
