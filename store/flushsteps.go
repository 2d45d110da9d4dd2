package store

import (
	"context"
	"time"

	"handloom/internal/check"
)

type step struct {
	name string
	task func(int) error
	cost cost
}

// prepare does everything that can fail: it plans every shard, deals the creates, checks
// the limits, obtains all memory and finds links. It changes no state. When it fails, or
// a Links function ends the goroutine, it cancels the plan.
func (f *flush) prepare(ctx context.Context) error {
	ready := false
	defer func() {
		if !ready {
			f.cancel()
		}
	}()
	if err := f.plan(ctx); err != nil {
		return err
	}
	if f.visits {
		if err := f.run(ctx, &f.findsLinks); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ready = true
	return nil
}

func (f *flush) plan(ctx context.Context) error {
	if check.Full {
		if err := f.store.leaks(); err != nil {
			return err
		}
		for _, t := range f.tables {
			t.auditRows()
		}
	}
	if err := f.run(ctx, &f.plans); err != nil {
		return err
	}
	more := false
	for _, t := range f.tables {
		dealt, err := t.deal(&f.room)
		if err != nil {
			return err
		}
		more = more || dealt
	}
	if more {
		f.divide()
	}
	if f.keyed {
		if err := f.guard(ctx, f.planKeys); err != nil {
			return err
		}
	}
	if f.room {
		return f.run(ctx, &f.makesRoom)
	}
	return nil
}

func (f *flush) run(ctx context.Context, s *step) error {
	defer traceStep(ctx, s.name).end()
	return f.store.run(ctx, len(f.work), s.task, f.costs(s.cost))
}

// costs estimates the tasks of a step, or returns nil if the estimate is not needed.
func (f *flush) costs(each cost) []int64 {
	if len(f.work) < 2 || f.store.options.Workers == 1 {
		return nil
	}
	f.cost = f.cost[:0]
	for i := range f.work {
		f.cost = append(f.cost, f.work[i].cost(each))
	}
	return f.cost
}

// commit applies the batch. It cannot fail, runs no user code and ignores cancellation;
// ctx only finds the team.
func (f *flush) commit(ctx context.Context) error {
	f.shield.Context = ctx
	defer func() { f.shield.Context = nil }()
	f.beginLists(f.frame)
	for _, t := range f.tables {
		if t.tracked {
			f.list(t)
			t.written.begins(f.frame)
			t.beginSets(f.frame)
		}
	}
	if err := f.run(&f.shield, &f.applies); err != nil {
		return err
	}
	if f.links {
		if err := f.run(&f.shield, &f.resolve); err != nil {
			return err
		}
	}
	if f.visits {
		for _, w := range f.work {
			w.patch()
		}
	}
	if f.keyed {
		f.applyKeys()
	}
	return nil
}

func (f *flush) cancel() {
	for _, t := range f.tables {
		t.cancel()
	}
	f.reset()
}

// uncancelled is a context that never ends but keeps its values.
type uncancelled struct{ context.Context }

func (*uncancelled) Deadline() (time.Time, bool) { return time.Time{}, false }
func (*uncancelled) Done() <-chan struct{}       { return nil }
func (*uncancelled) Err() error                  { return nil }
