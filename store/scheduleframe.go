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

// Run runs one frame, or a part of that of the Write whose context it is given: the
// waves one after another, and the flushes between them and at the end. It holds the
// store alone from its first wave to its last flush, or joins that Write, so that readers
// see whole frames and nothing of other goroutines comes between two waves. Its report
// adds up what the flushes did, Epoch being that of the last, and is good until the next
// frame.
//
// All systems of a wave run, even if one fails; then the error of the one given
// first is returned, as a [*SystemError], and nothing later runs. What the
// systems recorded since the last flush is dropped, and other pending commands
// are kept; items written in place stay written, which a rollback to a
// checkpoint would undo. A flush that fails ends the frame and keeps the whole
// batch, as it does anywhere. Run looks at ctx before each wave and flush.
//
// Keys of queues follow the order of systems, so that a frame ends in the same
// state for any number of workers. Systems of one wave share the team of ctx, or
// the one that the frame opens: their passes run inline, each on the goroutine
// of its system, and the passes of a system that is alone in its wave have all
// workers.
//
// Run is called by the goroutine that flushes. A frame while another one of the
// same schedule runs is [ErrPhase]. Run allocates one object, and one per flush, system
// and pass.
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
	defer c.drop() // nothing is left of a frame that succeeds; Goexit may end the caller
	f := schedule.Run{Workers: s.options.Workers, Flush: c.flush}
	if s.shuffle != nil || seam.Step != nil {
		f.Shuffle = s.shuffleSystems
	}
	if err := c.plan.Run(p, f); err != nil {
		return nil, err
	}
	c.keep()
	s.flush.beginLists(p.frame.number) // no flush has, unless systems emit something
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

// join gives what the systems recorded its place in the batch: in the order in
// which they would have recorded it one by one.
func (c *Schedule) join() {
	for _, y := range c.systems {
		c.store.batch.Join(y.queues)
	}
}

// keep leaves to the next flush what systems recorded without saying so, and no
// flush of the frame was for.
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

// shuffleSystems orders the n systems of a wave as the tasks of a pass are.
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

// run runs the system in the wave whose context it is given.
func (y *system) run(ctx context.Context) error {
	p := &phase{Context: ctx, store: y.store, op: opSystem, outer: y.store.phaseOf(ctx), system: y}
	defer p.ended.Store(true)
	if check.Full {
		y.store.goroutines.enter(p)
		defer y.store.goroutines.leave()
	}
	defer y.labels.Enter().Restore(ctx)
	return y.Run(p)
}

// add adds what another flush did to the report of the frame. Both have their
// tables by typeId.
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
	r.Columns, spare.columns = merge(spare.columns[:0], r.Columns, o.Columns, func(a, b string) int { return byTable(s.parts[a], s.parts[b]) }), r.Columns
}

// merge appends the lines of both lists to all, by name.
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
