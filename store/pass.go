package store

import (
	"context"
	"fmt"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
)

// Each runs f for the tasks 0 to n-1 of a pass, in parallel, each with its own queue. If
// tasks fail, by [Queue.Fail] or a panic, Each runs all others, drops everything that the
// pass recorded and returns the error of the lowest task, a panic as a [*PanicError].
// Each checks ctx once, before the first task, so that a pass runs completely or not at
// all.
//
// A pass holds the store alone, or joins the Frame of its context. Only Reduce may run
// inside a task. A negative n panics.
func (s *Store) Each(ctx context.Context, n int, f func(task int, q Queue)) error {
	if n < 0 {
		panic(fmt.Sprintf("store: Each of %d tasks; n must not be negative", n))
	}
	check.Given(f != nil, "store: Each", "function")
	return s.runEach(ctx, opEach, n, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

// Do runs f as the only task of a pass, with a queue. f may also write items in place: in a
// system the items of tables in Writes, elsewhere all. Everything else is as for [Store.Each]
// with n = 1.
//
//	err := s.Do(ctx, func(q store.Queue) { ships.Emplace(q, Ship{Hull: 100}) })
func (s *Store) Do(ctx context.Context, f func(q Queue)) error {
	check.Given(f != nil, "store: Do", "function")
	return s.runEach(ctx, opDo, 1, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

// runEach runs an Each or a Do.
func (s *Store) runEach(ctx context.Context, op operation, n int, f func(untyped)) error {
	ph, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	p := &s.each
	if y := ph.systemOf(); y != nil {
		p = &y.each // passes of other systems may run at the same time
	}
	p.open(ph)
	defer p.leave()
	if err := p.begin(n); err != nil {
		return err
	}
	p.f = f
	return p.record(p.task)
}

// runPass runs the tasks of a pass and closes its queues. It drops their commands unless
// every task succeeded, also when the caller's goroutine ends inside a task.
func (s *Store) runPass(p *phase, queues *batch.Pass, n int, task func(int) error) (err error) {
	if check.Full {
		defer s.watch(p)()
	}
	if s.probe != nil {
		task = s.probe.pass(p, queues, task)
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

// Queues begins a pass of n queues for goroutines of the caller. Each queue belongs to
// one goroutine at a time, until the next flush or Discard; recording must end before. A
// queue over its limit makes that flush return [ErrQueueFull] and apply nothing.
//
// Queues and Discard may be called between phases or inside a Read or Reduce, one after
// another: their order decides the order of commands. During any other phase they are
// [ErrPhase]. They do not wait for phases. A negative n panics.
func (s *Store) Queues(n int) ([]Queue, error) {
	if n < 0 {
		panic(fmt.Sprintf("store: Queues of %d; n must not be negative", n))
	}
	s.made("Queues")
	if !s.gate.tryPass() {
		return nil, fmt.Errorf("store: Queues: %w: another phase than Read or Reduce is open; call it between phases", ErrPhase)
	}
	defer s.gate.release(true)
	s.recording.Lock()
	defer s.recording.Unlock()
	if err := s.unclaimed(opQueues); err != nil {
		return nil, err
	}
	if err := s.admit(); err != nil {
		return nil, fmt.Errorf("store: Queues: %w", err)
	}
	pass := s.batch.Begin(n)
	if s.probe != nil {
		s.probe.begin(pass, opQueues, nil)
	}
	queues := make([]Queue, n)
	for i := range queues {
		queues[i] = Queue(pass.Queue(i))
	}
	return queues, nil
}

// Discard drops the pending batch: every command recorded since the last flush, and the
// calls of the inbox that have returned. Its queues then panic, and its provisional
// handles are stale. Callers and [ErrPhase] are as for [Store.Queues].
func (s *Store) Discard() error {
	s.made("Discard")
	if !s.gate.tryPass() {
		return fmt.Errorf("store: Discard: %w: another phase than Read or Reduce is open; call it between phases", ErrPhase)
	}
	defer s.gate.release(true)
	s.recording.Lock()
	defer s.recording.Unlock()
	if err := s.unclaimed(opDiscard); err != nil {
		return err
	}
	s.batch.Drop(ErrDiscarded)
	return nil
}

// begin starts a pass of n queues, unless the batch is at its limit.
func (s *Store) begin(ph *phase, n int) (p *batch.Pass, err error) {
	if err := s.admit(); err != nil {
		return nil, err
	}
	y := ph.systemOf()
	if y != nil {
		p = y.queues.Begin(n)
	} else {
		p = s.batch.Begin(n)
	}
	p.Context = ph
	if s.random != nil {
		s.random.pass(y, p)
	}
	return p, nil
}

func (s *Store) admit() error {
	if s.options.BatchLimit > 0 || s.options.BatchBytes > 0 {
		return s.batch.Admit()
	}
	return nil
}
