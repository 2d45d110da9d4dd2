package store

import (
	"context"
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// Each runs f for the tasks 0 to n-1 of a pass, in parallel, each with a queue
// of its own. All tasks run, whatever happens in one of them; then the error of
// the lowest task that failed is returned, by [Queue.Fail] or with a panic as a
// [*PanicError], and everything the pass recorded is dropped. Each looks at ctx once,
// before the first task, so that a pass runs whole or not at all.
//
// A pass holds the store alone, or joins the Frame whose context it is given.
// Inside a task only Reduce joins. A negative n panics.
func (s *Store) Each(ctx context.Context, n int, f func(task int, q Queue)) error {
	if n < 0 {
		panic(fmt.Sprintf("store: Each of %d tasks; n must not be negative", n))
	}
	check.Given(f != nil, "store: Each", "function")
	return s.pass(ctx, opEach, n, func(e *eachPass) { e.f = f })
}

// Do runs f as the one task of a pass, with a queue to record into. Everything else is as
// for [Store.Each] with n = 1.
//
//	err := s.Do(ctx, func(q store.Queue) { ships.Emplace(q, Ship{Hull: 100}) })
func (s *Store) Do(ctx context.Context, f func(q Queue)) error {
	check.Given(f != nil, "store: Do", "function")
	return s.pass(ctx, opDo, 1, func(e *eachPass) { e.one = f })
}

// pass runs the pass of an Each or Do, whose function set puts in its place.
func (s *Store) pass(ctx context.Context, op operation, n int, set func(e *eachPass)) error {
	p, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	defer p.leave()
	defer p.trace("").end()
	e, y := &s.each, p.systemOf()
	if y != nil {
		e = &y.each // those of other systems may run at the same time
	}
	queues, err := s.begin(p, n)
	if err != nil {
		return fmt.Errorf("store: %v: %w", op, err)
	}
	set(e)
	e.queues = queues
	defer e.release()
	return s.runPass(p, e.queues, n, e.task)
}

// eachPass is the state of the pass of Each or Do that runs; the store keeps it, so
// that a pass allocates nothing but its phase.
type eachPass struct {
	f      func(int, Queue)
	one    func(Queue) // of a Do
	queues *batch.Pass
	task   func(int) error // run, bound once
}

func (e *eachPass) init(*Store) { e.task = e.run }

func (e *eachPass) run(task int) error {
	q := Queue(e.queues.Queue(task))
	if e.one != nil {
		e.one(q)
	} else {
		e.f(task, q)
	}
	return e.queues.Failed(task)
}

func (e *eachPass) release() { e.f, e.one, e.queues = nil, nil, nil }

// runPass runs the tasks of a pass and closes its queues, dropping what they
// hold unless every task succeeded. That is done too when the caller's goroutine
// ends inside a task.
func (s *Store) runPass(p *phase, queues *batch.Pass, n int, task func(int) error) (err error) {
	if check.Full {
		defer s.watch(p)()
	}
	failed := true
	defer func() {
		if full := queues.End(failed); full != nil && err == nil {
			err = fmt.Errorf("store: %v: %w", p.op, full)
		}
	}()
	err = s.run(p, n, task, nil)
	if check.Cheap && err == nil {
		err = p.mayRecord(queues)
	}
	failed = err != nil
	return err
}

// Queues begins a pass of n queues for a caller with goroutines of its own. Each
// queue belongs to one goroutine at a time, until the next flush or Discard ends
// them; recording must be over by then. A queue that reaches its limit makes
// that flush return [ErrQueueFull] and apply nothing.
//
// Queues is called by the goroutine that flushes, between phases or inside a Read or
// Reduce. While anything else is open (a pass, a Write, a Frame, a Flush, a Run) it is
// [ErrPhase]; readers, and who waits for them, do not matter. It waits for nothing.
// A negative n panics.
func (s *Store) Queues(n int) ([]Queue, error) {
	if n < 0 {
		panic(fmt.Sprintf("store: Queues of %d; n must not be negative", n))
	}
	s.made("Queues")
	if !s.gate.tryPass() {
		return nil, fmt.Errorf("store: Queues: %w: a phase that is no Read or Reduce holds the store; call it between phases", ErrPhase)
	}
	defer s.gate.release(true)
	if err := s.unclaimed(opQueues); err != nil {
		return nil, err
	}
	if err := s.admit(); err != nil {
		return nil, fmt.Errorf("store: Queues: %w", err)
	}
	pass := s.batch.Begin(n)
	queues := make([]Queue, n)
	for i := range queues {
		queues[i] = Queue(pass.Queue(i))
	}
	return queues, nil
}

// Discard drops the pending batch: every command recorded since the last flush,
// calls of the inbox that have returned included.
// Its queues panic from now on, and its provisional handles are stale.
//
// Who may call Discard, and when it is [ErrPhase], is as for [Store.Queues].
func (s *Store) Discard() error {
	s.made("Discard")
	if !s.gate.tryPass() {
		return fmt.Errorf("store: Discard: %w: a phase that is no Read or Reduce holds the store; call it between phases", ErrPhase)
	}
	defer s.gate.release(true)
	if err := s.unclaimed(opDiscard); err != nil {
		return err
	}
	s.batch.Drop(ErrDiscarded)
	return nil
}
