package tasks

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"handloom/internal/check"
)

// Options says how a [Run] may spread its tasks. The zero value is useful.
type Options struct {
	// Workers is the largest number of goroutines that run tasks, the caller
	// included. 0 means the whole team or, without a team, as many as
	// runtime.GOMAXPROCS(0) says at the time of the call. A team is never
	// enlarged: more workers than it has are the same as all of it.
	Workers int

	// Weights holds the estimated cost of each task in nanoseconds, or is
	// nil. With weights the heaviest task is claimed first and of equal ones
	// the lowest, unless all are small parts of the whole; and work that is too
	// small to share stays on the caller.
	// Run reads Weights before the first task starts and keeps no reference.
	Weights []int64

	// Whole makes Run look at the context once, before the first task, so
	// that either all tasks run or none.
	Whole bool
}

// Run calls fn once for each task 0..n-1 and returns when all calls have
// returned. The calling goroutine is worker 0 and claims tasks at once; the
// other workers are those of the team in ctx (see [WithTeam]) or, without a
// team, goroutines that Run starts and joins.
//
// An error or a panic does not stop the other tasks: all n run, and Run
// returns the error of the lowest task that failed, unchanged, because the
// first in time would depend on the number of workers. A panic is returned as
// a [*PanicError] and a runtime.Goexit as an error that is [ErrGoexit] and
// names the task. When the task that calls Goexit runs on the caller's own
// goroutine, the remaining tasks still run and everything is joined and
// released; then the goroutine ends, and Run does not return.
//
// When ctx ends, no further task is claimed. Run then returns the error of the
// lowest task that failed, otherwise the context's cause, wrapped with how
// many tasks ran; if all ran it returns nil, even if ctx has ended since. With
// [Options.Whole] ctx is looked at before the first task only. n == 0 is nil
// whatever ctx says.
//
// Run works inline, in the order of the tasks and on the caller alone, if
// there is one task or one worker, if the weights add up to little, or if the
// team is busy. It allocates nothing then, and nothing in the steady state of
// a team; errors aside. A phase costs about 0.2 us in a team whose workers are
// awake, 10 us more when they are parked, and 25 ns inline (go test -bench=.
// ./tasks).
//
// Negative Workers are an error. A negative n, an n above 2^32-1 and weights
// of another number than n are bugs of the caller's and panic. Run may be
// called from any goroutine, from inside a task too.
func Run(ctx context.Context, n int, fn func(task int) error, o Options) error {
	if err := o.check(n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	check.Given(ctx != nil, "tasks: Run", "context")
	check.Given(fn != nil, "tasks: Run", "function")
	if o.Whole && ctx.Err() != nil {
		return stopped(ctx, 0, n)
	}
	w := sequence{work: work{ctx: ctx, n: n, fn: fn, weights: o.Weights, watch: !o.Whole && ctx.Done() != nil}}
	if n == 1 || light(o.Weights, inlineBelow) {
		return w.inline()
	}

	t := teamOf(ctx)
	workers := o.workers(t)
	switch {
	case workers == 1, !t.isSpinning() && light(o.Weights, wakeBelow):
		return w.inline()
	case t == nil:
		return w.fresh(min(workers, n))
	case t.busy.CompareAndSwap(false, true):
		if l, ok := ctx.(labeled); ok {
			w.labels = l.GoroutineLabels()
		}
		return t.run(w.work, workers)
	default:
		// Another Run has the team: one at the same time, or the one whose
		// task we are in. Waiting for it could be waiting for ourselves.
		return w.inline()
	}
}

// work is what one Run has to do, as the caller stated it.
type work struct {
	ctx     context.Context
	n       int
	fn      func(task int) error
	weights []int64       // nil: no preference
	watch   bool          // whether the end of ctx stops the claiming
	labels  *check.Labels // of the workers of a team; nil: those of the team
}

// labeled is a context that says which labels for profiles the workers of a team have
// while they run tasks of it; nil: those of the team. The caller has them already, and
// goroutines without a team inherit them.
type labeled interface{ GoroutineLabels() *check.Labels }

// canceled reports whether no further task may start.
func (w *work) canceled() bool {
	return w.watch && w.ctx.Err() != nil
}

// stopped is the error of a Run whose context ended before all tasks had run.
func stopped(ctx context.Context, ran, n int) error {
	return fmt.Errorf("tasks: %d of %d tasks ran: %w", ran, n, context.Cause(ctx))
}

// check panics on what only a bug can ask for and returns an error for what a
// configuration file can.
func (o *Options) check(n int) error {
	if n < 0 || uint64(n) > math.MaxUint32 {
		panic(fmt.Sprintf("tasks: Run with n = %d tasks; n must be 0 to 2^32-1", n))
	}
	if o.Weights != nil && len(o.Weights) != n {
		panic(fmt.Sprintf("tasks: Run with %d weights for %d tasks; give one weight per task or none", len(o.Weights), n))
	}
	return checkWorkers(o.Workers)
}

// workers is the number of workers for a Run in team t, or in none.
func (o *Options) workers(t *team) int {
	switch {
	case t != nil && o.Workers == 0:
		return len(t.workers)
	case t != nil:
		return min(o.Workers, len(t.workers))
	case o.Workers == 0:
		return runtime.GOMAXPROCS(0)
	default:
		return o.Workers
	}
}

func checkWorkers(workers int) error {
	if workers < 0 {
		return fmt.Errorf("tasks: %d workers; give a positive number, or 0 for GOMAXPROCS", workers)
	}
	return nil
}
