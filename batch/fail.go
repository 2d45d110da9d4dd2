package batch

import (
	"context"
	"fmt"
)

// Fail sets the error of the task; the first error stays, and nil has no effect. It panics
// if the pass has ended or the queue is not for a task.
func (q Queue) Fail(err error) {
	q.pass("Fail")
	if err != nil && q.buf.failed == nil {
		q.buf.failed = err
	}
}

// Context returns the context of the pass. It panics as Fail does.
func (q Queue) Context() context.Context { return q.pass("Context").Context }

// pass returns the pass of the queue's task. It panics with the name of the call if there
// is none.
func (q Queue) pass(call string) *Pass {
	if q.buf == nil {
		panic(fmt.Sprintf("store: %s of the zero Queue; use the queue that a pass gives to its task", call))
	}
	q.usable(q.buf.batch)
	p := q.buf.owner
	if p == nil || p.Context == nil {
		panic(fmt.Sprintf("store: %s of %v, which is not for a task of a pass; a function of the inbox returns its error and uses the context of its caller", call, q))
	}
	return p
}

// Failed returns the error of a task, or nil. It is called on the goroutine of the task or
// after the task.
func (p *Pass) Failed(task int) error { return p.buffers[task].failed }
