package tasks

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"handloom/internal/check"
)

// Options configures a [Run]. The zero value is useful.
type Options struct {
	// Workers is the maximum number of goroutines, including the caller. 0 means the whole
	// team or, without a team, runtime.GOMAXPROCS(0). A team never grows.
	Workers int

	// Weights are estimated costs of the tasks in ns, or nil. The heaviest task is taken
	// first and then the lowest, unless equal shares of neighbours cost about the same; too
	// little work to share stays on the caller. Run keeps no reference.
	Weights []int64

	// Whole makes Run check the context only once, before the first task: either all tasks
	// run or none.
	Whole bool
}

// Run calls fn once for each task 0..n-1 and returns when all calls have returned. The
// caller is worker 0. The others are the team in ctx (see [WithTeam]) or goroutines that
// Run starts and joins.
//
// An error or a panic does not stop other tasks. Run returns the error of the lowest failed
// task, unchanged, because the first in time would depend on the number of workers. A panic
// becomes a [*PanicError], and a runtime.Goexit an error that wraps [ErrGoexit]. After a
// Goexit on the caller's goroutine, the remaining tasks run, everything is released, and
// the goroutine ends: Run does not return.
//
// After ctx ends, no task starts. Run then returns the error of the lowest failed task, or
// else the context's cause, wrapped with the number of tasks that ran. If all tasks ran it
// returns nil, even if ctx has ended.
//
// Run works inline, in task order on the caller, if there is one task or one worker, if the
// sum of the weights is small, or if the team is busy. Apart from errors it allocates
// nothing inline or in the steady state of a team. A phase takes about 0.2 us in a team of
// spinning workers, 10 us more if they are parked, and 25 ns inline (go test -bench=.
// ./tasks).
//
// Negative Workers are an error. Run panics if n is negative or above 2^32-1, or if the
// number of weights is not n. Any goroutine may call Run, also inside a task.
func Run(ctx context.Context, n int, fn func(task int) error, o Options) error {
	if err := o.check(n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	if ctx == nil || fn == nil {
		check.Given(ctx != nil, "tasks: Run", "context")
		check.Given(false, "tasks: Run", "function")
	}
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
		// Another Run has the team, possibly the Run of this task: waiting could be a
		// deadlock.
		return w.inline()
	}
}

// work is the input of one Run.
type work struct {
	ctx     context.Context
	n       int
	fn      func(task int) error
	weights []int64
	watch   bool          // stop when ctx ends
	labels  *check.Labels // the workers'; nil: labels of the team
}

// labeled is a context with profile labels for a team; nil: labels of the team. The caller
// and new goroutines already have them.
type labeled interface{ GoroutineLabels() *check.Labels }

func (w *work) canceled() bool {
	return w.watch && w.ctx.Err() != nil
}

func stopped(ctx context.Context, ran, n int) error {
	return fmt.Errorf("tasks: %d of %d tasks ran: %w", ran, n, context.Cause(ctx))
}

// check panics on bugs, and returns an error for values that a configuration file can
// contain.
func (o *Options) check(n int) error {
	if n < 0 || uint64(n) > math.MaxUint32 {
		panic(fmt.Sprintf("tasks: Run with n = %d tasks; n must be 0 to 2^32-1", n))
	}
	if o.Weights != nil && len(o.Weights) != n {
		panic(fmt.Sprintf("tasks: Run with %d weights for %d tasks; give one weight per task or none", len(o.Weights), n))
	}
	return checkWorkers(o.Workers)
}

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
