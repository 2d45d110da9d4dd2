package tasks

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"handloom/internal/check"
)

// WithTeam calls fn with a context that carries a team of the given number of
// workers, and returns what fn returns. Every [Run] given that context, or one
// derived from it, uses the team's goroutines instead of starting its own. The
// calling goroutine counts as one worker, so the team has workers-1
// goroutines; 0 means runtime.GOMAXPROCS(0), negative is an error.
//
// WithTeam joins the goroutines before it returns, also when fn panics, in
// which case the panic goes on, and when fn calls runtime.Goexit. A context
// kept after that carries no team. If ctx already carries a team, WithTeam
// only calls fn, which uses that one. WithTeam does not look at whether ctx
// has ended.
//
// One Run at a time has the team. Another one, on another goroutine or inside
// a task, finds it busy and runs inline; nothing ever waits for a team.
//
// An idle worker spins for a while, which keeps it fast to begin and a
// processor busy, and then parks, which costs nothing but makes it slow to
// begin. So a team is for stretches of work with short gaps, such as the
// phases of one tick, and may be kept over gaps of any length. It expects its
// processors to be free: a worker whose processor is taken by another program
// in the middle of a task keeps the caller waiting.
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

// teamOf is the team that ctx carries, or nil if there is none or it has
// ended.
func teamOf(ctx context.Context) *team {
	t, _ := ctx.Value(teamKey{}).(*team)
	if t == nil || t.closed.Load() {
		return nil
	}
	return t
}

// team keeps workers ready for one phase after another. What spinning workers
// look at lies apart from what changes with every phase.
type team struct {
	phase phase
	_     [cacheLine]byte

	// pending counts the tasks of the phase that are not settled, plus
	// callerParks while the caller waits for them on settled.
	pending atomic.Int64
	busy    atomic.Bool // whether a Run has the team
	_       [cacheLine]byte

	closed   atomic.Bool
	parked   atomic.Int64 // workers that are parked: those for whom call has to do something
	settled  chan struct{}
	spinners int      // how many workers, of all teams together, may spin
	workers  []worker // by index; 0 is whoever calls Run
	group    errgroup.Group
}

// callerParks is more than any number of tasks.
const callerParks = 1 << 40

func newTeam(ctx context.Context, workers int) *team {
	t := &team{
		settled:  make(chan struct{}, 1),
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

// close ends the team and joins its goroutines.
func (t *team) close() {
	t.closed.Store(true)
	for i := range t.workers {
		t.workers[i].unpark(t)
	}
	_ = t.group.Wait() // errors go through the phase, which keeps the lowest
}

// run shares the work with the team's workers below the limit. The team must
// have been made busy for it.
func (t *team) run(w work, limit int) (err error) {
	defer func() { // deferred, because Goexit may end the caller
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

// isSpinning reports whether a worker besides the caller need not be woken.
func (t *team) isSpinning() bool {
	return t != nil && t.parked.Load() < int64(len(t.workers)-1)
}

// call wakes parked workers below the limit, as many as there are tasks for,
// those that are awake counted in. It does not wait for anyone: a worker that
// comes late finds less to do.
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

// finishTasks takes the tasks of the worker off those the caller waits for. The
// phase may end with it.
func (t *team) finishTasks(h *workerPhase) {
	claimed := h.claimed
	h.claimed = 0
	if claimed > 0 && t.pending.Add(-int64(claimed)) == callerParks {
		t.settled <- struct{}{}
	}
}

// await returns when no task is pending.
func (t *team) await() {
	done := func() bool { return t.pending.Load() == 0 }
	if t.spinners > 0 && spin(done) {
		return
	}
	// The addition decides, once and for both sides, who saw whom first:
	// whether tasks were pending when the caller parked.
	if t.pending.Add(callerParks) > callerParks {
		<-t.settled
	}
	t.pending.Store(0)
}
