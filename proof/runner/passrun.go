package runner

import (
	"context"
	"errors"
	"fmt"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

var errTask = errors.New("the task fails")

// taskError returns the error of a failing task, with its number.
func taskError(task int) error { return fmt.Errorf("task %d: %w", task, errTask) }

// run runs a pass and gives its commands to the models. It reports whether the pass ran.
func (r *running) run(ctx context.Context, pass func(context.Context) error) bool {
	// No task may run in a refused pass, so nothing is recorded.
	if r.exact.BatchFull() {
		r.refused(pass(ctx))
		return false
	}
	// Failed passes have a number, too.
	number := r.exact.BeginPass()
	failed := r.failed < len(r.bodies)
	err := pass(ctx)
	// All tasks have ended: the lists are complete, in the order of tasks.
	wrong := r.exact.EndPass(number, r.logs, failed, false)
	r.want(wrong == nil, "%v", wrong)
	if failed {
		r.checkFailed(err)
	} else {
		if err != nil {
			r.unexpected(err, "no error")
		}
		r.record(false)
	}
	r.checkPending()
	return true
}

// refused compares a refusal with the limit of the batch, and reports whether the pass is
// refused.
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

// checkFailed checks that the error is of the lowest failing task, whichever failed first.
func (r *running) checkFailed(err error) {
	var panicked *store.PanicError
	ok := false
	switch r.how {
	case script.FailError:
		// The text has the number of the task.
		ok = errors.Is(err, errTask) && err.Error() == taskError(r.failed).Error()
	case script.FailPanic:
		ok = errors.As(err, &panicked) && panicked.Task == r.failed && panicked.Value == errTask
	}
	if !ok {
		r.unexpected(err, fmt.Sprintf("the %v of task %d", r.how, r.failed))
	}
}

// Panics not asked for by the program come from the store.
func (r *running) unexpected(err error, want string) {
	var panicked *store.PanicError
	if errors.As(err, &panicked) && panicked.Value != errTask {
		r.fail(Invariant, "%v\n%s", err, panicked.Stack)
		return
	}
	r.fail(Model, "the pass returns %v; want %s", err, want)
}
