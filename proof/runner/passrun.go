package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// errTask is what a task of the program fails with.
var errTask = errors.New("the task fails")

func taskError(task int) error { return fmt.Errorf("task %d: %w", task, errTask) }

func goexit() { runtime.Goexit() }

// run runs the pass, tells the models what came of it, and reports whether its
// tasks ran.
func (r *running) run(ctx context.Context, inWrite bool, pass func(context.Context) error) bool {
	if r.step.Arg("cancel") == 1 {
		r.runCancelled(ctx, inWrite, pass)
		return false
	}
	if r.exact.BatchFull() {
		r.refused(pass(ctx))
		return false
	}
	number := r.exact.BeginPass()
	failed := r.failed < len(r.bodies)
	err, ended := r.call(ctx, pass)
	overflow, wrong := r.exact.EndPass(number, r.logs, failed, false)
	r.want(wrong == nil, "%v", wrong)
	if failed {
		r.checkFailed(err, ended)
	} else {
		r.checkEnded(err, ended, overflow)
	}
	if !failed && !overflow {
		r.record(false)
	}
	r.checkPending()
	return true
}

// refused reports whether a pass must be refused because the batch is full, and
// checks that it is.
func (p *executor) refused(err error) bool {
	full := p.exact.BatchFull()
	switch {
	case full && !errors.Is(err, store.ErrQueueFull):
		p.fail(Limit, "the batch is full, and the pass returns %v", err)
	case full:
		p.result.Seen.See(model.BatchLimit)
	case err != nil:
		p.fail(Model, "the pass is refused: %v", err)
	}
	return full || err != nil
}

// runCancelled runs the pass with a context that has ended. It is turned away at
// the gate, but for one that joins a write, which counts and, without tasks, runs.
func (r *running) runCancelled(ctx context.Context, inWrite bool, pass func(context.Context) error) {
	if inWrite && !r.exact.BatchFull() {
		r.exact.BeginPass()
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	err := pass(ctx)
	switch {
	case errors.Is(err, context.Canceled):
	case errors.Is(err, store.ErrQueueFull) && r.exact.BatchFull():
	case err == nil && inWrite && len(r.bodies) == 0:
	default:
		r.fail(Model, "with a context that has ended it returns %v", err)
	}
}

// call runs a pass, on a goroutine of its own if a task may end it. ended says
// that it did.
func (r *running) call(ctx context.Context, pass func(context.Context) error) (err error, ended bool) {
	if r.how != script.FailGoexit && !r.mayExit() {
		return pass(ctx), false
	}
	ended = true
	var done sync.WaitGroup
	done.Go(func() {
		err = pass(ctx)
		ended = false
	})
	done.Wait()
	return err, ended
}

func (r *running) mayExit() bool {
	for i := range r.step.Body {
		if r.step.Body[i].Op == script.FailGoexit {
			return true
		}
	}
	return false
}

// checkEnded compares the error of a pass whose tasks do not fail.
func (r *running) checkEnded(err error, ended, overflow bool) {
	switch {
	case overflow && !errors.Is(err, store.ErrQueueFull):
		r.fail(Limit, "a queue is full, and the pass returns %v", err)
	case !overflow && (err != nil || ended):
		r.unexpected(err, "no error")
	}
}

// checkFailed compares the error of a pass with what its lowest task to fail did.
// A goroutine that ended says nothing: it may be that of any task.
func (r *running) checkFailed(err error, ended bool) {
	var panicked *store.PanicError
	ok := false
	switch r.how {
	case script.FailError:
		ok = errors.Is(err, errTask) && err.Error() == taskError(r.failed).Error()
	case script.FailPanic:
		ok = errors.As(err, &panicked) && panicked.Task == r.failed && panicked.Value == errTask
	case script.FailGoexit:
		ok = errors.Is(err, store.ErrGoexit)
	}
	if !ok && !ended {
		r.unexpected(err, fmt.Sprintf("the %v of task %d", r.how, r.failed))
	}
}

// unexpected fails for the error of a pass: a panic that the program did not ask
// for is the store's.
func (r *running) unexpected(err error, want string) {
	var panicked *store.PanicError
	if errors.As(err, &panicked) && panicked.Value != errTask {
		r.fail(Invariant, "%v\n%s", err, panicked.Stack)
		return
	}
	r.fail(Model, "the pass returns %v; want %s", err, want)
}
