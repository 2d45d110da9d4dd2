package store

import (
	"context"
	"fmt"
	"slices"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/schedule"
	"handloom/internal/seam"
)

// Run runs one frame, or a part of the frame of its Frame: the waves one after another,
// with flushes between them and at the end. It holds the store alone from the first wave
// to the last flush, or joins the Frame of its context, so readers see whole frames and
// no other goroutine changes anything between two waves. The report is the sum of the
// flushes, with the Epoch of the last one, and valid until the next frame.
//
// All systems of a wave run, even if one fails. Run then returns the error of the first
// failed system in the list as a [*SystemError], runs nothing later, and drops the
// commands of systems since the last flush. It keeps other pending commands, and items
// written in place stay written. A failed flush ends the frame and keeps the whole batch.
// Run checks ctx before each wave and flush.
//
// Queues are ordered by system, so the state after a frame is the same for any number of
// workers. Systems of one wave share the team of ctx, or a team of the frame: their
// passes run inline, each on the goroutine of its system. The passes of a system that is
// alone in its wave use all workers.
//
// The goroutine that flushes calls Run. A second frame of the same schedule meanwhile is
// [ErrPhase]. Run allocates one object, and one per flush, system and pass.
func (c *Schedule) Run(ctx context.Context) (*Report, error) {
	check.Given(c != nil, "store: Run", "Schedule")
	if !c.running.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("store: Run of a schedule while a frame of it runs: %w; run frames one after another", ErrPhase)
	}
	defer c.running.Store(false)
	if check.Cheap {
		defer c.label()()
	}
	s := c.store
	p, err := s.enter(ctx, opRun)
	if err != nil {
		return nil, err
	}
	defer s.receipts.end(&c.frame)
	defer p.leave()
	defer p.trace("").end()
	if p.outer == nil {
		p.frame = &c.frame
		p.frame.begin(s)
		s.flush.adopt(p.frame.number)
	} else {
		p.frame = p.outer.frame
	}
	if s.random != nil {
		s.random.run(c)
	}
	c.report.begin(s.Epoch())
	defer c.drop() // nothing remains after success; Goexit may end the caller
	f := schedule.Run{Workers: s.options.Workers, Flush: c.flush}
	if s.shuffle != nil || seam.Step != nil {
		f.Shuffle = s.shuffleSystems
	}
	if err := c.plan.Run(p, f); err != nil {
		return nil, err
	}
	c.keep()
	s.flush.beginLists(p.frame.number) // no flush has done so unless systems emit
	return &c.report, nil
}

func (c *Schedule) bind() {
	s := c.store
	c.flush = func(ctx context.Context, ends []schedule.Resource) error {
		p, err := s.enterFlush(ctx)
		if err != nil {
			return err
		}
		c.join()
		c.endEvents(p, ends)
		r, err := s.flushIn(p)
		if err == nil {
			c.add(r)
		}
		return err
	}
}

// join adds the commands of the systems to the batch, in serial order.
func (c *Schedule) join() {
	for _, y := range c.systems {
		c.store.batch.Join(y.queues)
	}
}

// keep leaves undeclared commands, which no flush of the frame was for, to the next
// flush.
func (c *Schedule) keep() {
	if slices.ContainsFunc(c.systems, func(y *system) bool { return !y.queues.Empty() }) {
		c.join()
	}
}

func (c *Schedule) drop() {
	for _, y := range c.systems {
		y.queues.Drop()
	}
}

// shuffleSystems returns a random order of the n systems of a wave, if Shuffle is on.
func (s *Store) shuffleSystems(n int) []int {
	order := make([]int, n)
	instead := s.order(n)
	for i := range order {
		order[i] = i
		if instead != nil {
			order[i] = instead(i)
		}
	}
	return order
}

func (y *system) run(ctx context.Context) error {
	p := &phase{Context: ctx, store: y.store, op: opSystem, outer: y.store.phaseOf(ctx), system: y}
	defer p.ended.Store(true)
	if check.Full {
		y.store.goroutines.enter(p)
		defer y.store.goroutines.leave()
	}
	defer y.labels.Enter().Restore(ctx)
	if y.store.probe != nil {
		return y.store.probe.system(p)
	}
	return y.Run(p)
}

// add adds the report of a flush to the report of the frame. Both have their tables by
// typeId.
func (c *Schedule) add(o *Report) {
	r := &c.report
	r.Epoch = o.Epoch
	r.Plan += o.Plan
	r.Apply += o.Apply
	r.Total.Add(o.Total)
	r.DroppedCalls += o.DroppedCalls
	r.Stale = batch.KeepLowest(append(r.Stale, o.Stale...))
	s := c.store
	spare := &c.spare
	r.Tables, spare.tables = merge(spare.tables[:0], r.Tables, o.Tables, func(a, b string) int { return byTypeID(s.names[a], s.names[b]) }), r.Tables
	r.Columns, spare.columns = merge(spare.columns[:0], r.Columns, o.Columns, func(a, b string) int { return byTable(s.components[a], s.components[b]) }), r.Columns
}

// merge appends the sorted lines of both lists to all, and adds up lines of one name.
func merge(all, a, b []TableReport, compare func(a, b string) int) []TableReport {
	for len(a) > 0 && len(b) > 0 {
		switch order := compare(a[0].Name, b[0].Name); {
		case order < 0:
			all, a = append(all, a[0]), a[1:]
		case order > 0:
			all, b = append(all, b[0]), b[1:]
		default:
			all, a = append(all, a[0]), a[1:]
			all[len(all)-1].Add(b[0].Counts)
			b = b[1:]
		}
	}
	return append(append(all, a...), b...)
}
