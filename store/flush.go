package store

import (
	"cmp"
	"context"
	"fmt"
	"runtime/trace"
	"slices"
	"sync/atomic"
	"time"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/shard"
)

// Flush applies the pending batch: one worker applies each shard, all shards in parallel,
// in an order that depends only on the recorded commands. The state after it is the same
// for any number of workers.
//
// It applies everything or nothing. It fails when ctx ends before the commit, and with
// [ErrFull], [ErrDuplicate], [ErrQueueFull] or the [*PanicError] of a Links function or
// the key function of an [Index]; state and batch are then as before. Discard drops the
// batch. A call of the inbox that does not fit, or whose key is taken, fails alone; see
// [Store.Inbox]. A batch without commands changes nothing, nor the epoch. The report is
// valid until the next flush.
//
// A Flush outside a Frame is a frame, and erases events that no schedule reads; see
// [TableOptions]. The first flush of a frame applies calls of the inbox.
//
// After a flush with commands, Options.AfterFlush is called with the report, on the same
// goroutine, after the phase.
//
// Flush holds the store alone, or joins the Frame of its context. A second flush at the
// same time is [ErrPhase], also inside AfterFlush.
func (s *Store) Flush(ctx context.Context) (*Report, error) {
	p, err := s.enterFlush(ctx)
	if err != nil {
		return nil, err
	}
	if p.outer == nil {
		s.flush.endUnread()
	}
	return s.flushIn(p)
}

func (s *Store) flushIn(p *phase) (*Report, error) {
	r, err := s.flushOnce(p)
	if s.reports(r, err) {
		s.callAfterFlush(r)
	}
	return r, err
}

// reports reports whether the result of a flush is passed to AfterFlush.
func (s *Store) reports(r *Report, err error) bool {
	return err == nil && r != &s.flush.empty && s.options.AfterFlush != nil
}

func (s *Store) flushOnce(p *phase) (*Report, error) {
	defer s.leaveFlush(p)
	defer p.trace("").end()
	frame := s.frameOf(p)
	r, err := s.flush.flush(p, frame)
	if err == nil {
		s.flush.adopt(frame.number)
	}
	if s.reports(r, err) {
		s.flush.reporting.Store(p) // before the next flush can begin
	}
	return r, err
}

// enterFlush refuses a flush while another waits at the gate or runs; otherwise it would
// wait and then apply nothing. A flush inside a Frame or Run has no rival.
func (s *Store) enterFlush(ctx context.Context) (*phase, error) {
	s.given(ctx, "Flush")
	if s.flush.reporting.Load() != nil {
		return nil, fmt.Errorf("store: Flush inside Options.AfterFlush: %w; it would overwrite the report; flush after Flush or Run returns", ErrPhase)
	}
	if outer := s.phaseOf(ctx); outer != nil {
		p := &phase{Context: ctx, store: s, op: opFlush, outer: outer}
		return p, p.open()
	}
	if !s.flush.taken.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("store: Flush while another flush runs: %w; one goroutine flushes", ErrPhase)
	}
	p := &s.flush.phase
	p.Context, p.store, p.op = ctx, s, opFlush
	p.ended.Store(false)
	err := p.open()
	if err != nil {
		p.Context = nil
		s.flush.taken.Store(false)
	}
	return p, err
}

func (s *Store) leaveFlush(p *phase) {
	s.flush.ended = s.flush.ended[:0]
	p.leave()
	if p.outer == nil {
		p.Context = nil
		s.receipts.end(&s.flush.singleFrame)
		s.flush.taken.Store(false)
	}
}

// flush is the state of a store's flushes. Its memory is reused, so that steady use
// allocates nothing.
type flush struct {
	store       *Store
	taken       atomic.Bool           // a flush outside other phases runs
	reporting   atomic.Pointer[phase] // phase of the flush with the report for which AfterFlush runs
	singleFrame frame                 // frame of a flush outside other phases
	phase       phase                 // phase of a flush outside other phases; reused, because the caller never gets it

	ended  []int // ordinals of the tables whose events end
	tables []*table
	links  bool
	visits bool
	keyed  bool
	room   bool // whether a shard needs memory
	work   []shardWork
	cost   []int64    // by work, in nanoseconds
	number uint64     // number of flushes with commands; Rollback does not change it
	frame  uint64     // number of the current frame
	last   uint64     // number of the frame of the last flush with commands
	early  []*written // lists written before their frame began
	lists  uint64     // number of the frame of the change lists
	frames uint64     // frames whose lists began; a Rollback counts twice, see entrance.Counts
	listed []*table   // tables with change lists
	active active     // tables that keep memory for flushes
	ctx    context.Context
	shield uncancelled // context after the commit point
	report Report
	empty  Report

	// The steps, and the visitor of stale commands, bound once.
	unrouted                                       func(batch.Sample)
	plans, makesRoom, findsLinks, applies, resolve step
}

// shardWork is one shard of a table in a step.
type shardWork struct {
	*shard.Shard
	table    *table
	commands *batch.Commands
	index    int
}

func (t *table) work(shard int) shardWork {
	return shardWork{t.order[shard], t, t.recorder.Pending, shard}
}

func (f *flush) init(s *Store) {
	f.store = s
	f.unrouted = func(sample batch.Sample) {
		f.report.Total.Stale++
		f.report.Stale = append(f.report.Stale, sample)
		if len(f.report.Stale) == 2*batch.MaxSamples { // typeIds arrive in any order
			f.report.Stale = batch.KeepLowest(f.report.Stale)
		}
	}
	each := func(name string, do func(w *shardWork), cost cost) step {
		return step{name, func(i int) error {
			w := &f.work[i]
			if trace.IsEnabled() {
				defer traceShard(f.ctx, name, w).end()
			}
			do(w)
			return nil
		}, cost}
	}
	f.plans = each("plan", func(w *shardWork) { w.Plan(w.commands, w.index) }, planCost)
	f.makesRoom = each("make room", func(w *shardWork) { w.MakeRoom() }, roomCost)
	f.findsLinks = each("find links", func(w *shardWork) { w.FindLinks(w.commands, w.index) }, linkCost)
	f.applies = each("apply", func(w *shardWork) {
		w.Apply(w.commands, w.index)
		if f.store.probe == nil { // which looks for the erases after the flush
			w.commands.ReleaseErases(w.index)
		}
	}, applyCost)
	f.resolve = each("link", func(w *shardWork) { w.Link(w.commands, w.index, w.table.flushing.real) }, linkCost)
}

func (f *flush) flush(p *phase, current *frame) (*Report, error) {
	s := f.store
	current.seal(s)
	f.frame = current.number
	if !s.batch.Started() && len(f.ended) == 0 {
		return f.nothing(), nil
	}
	if err := s.batch.Check(); err != nil {
		return nil, fmt.Errorf("store: Flush: %w; nothing was applied, the batch is kept", err)
	}
	f.ctx = p
	defer func() { f.ctx = nil }()
	begin := elapsed()
	if !f.collect(p.insideFrame()) {
		s.batch.Finish()
		return f.nothing(), nil
	}
	recorded := 0
	if check.Full {
		recorded = s.batch.Sealed().Commands
	}
	err := f.prepare(p)
	if err != nil && s.batch.HasCalls() {
		err = f.prepareWithout(p, err)
	}
	if err != nil {
		return nil, fmt.Errorf("store: Flush: %w; nothing was applied, the batch is kept", err)
	}
	if check.Full {
		recorded += f.byAll()
	}
	planned := elapsed()
	if check.Cheap {
		s.applying.Store(true)
		defer s.applying.Store(false)
	}
	if err := f.commit(p); err != nil {
		s.broken = true
		s.batch.Break(ErrBroken)
		return nil, fmt.Errorf("store: Flush: %w: %w", ErrBroken, err)
	}
	if s.probe != nil {
		s.probe.flushed(f)
	}
	f.publish(current)
	if check.Full {
		f.verifyCounts(recorded)
	}
	f.report.Plan, f.report.Apply = planned-begin, elapsed()-planned
	s.publishFlush(f.tables, &f.report)
	f.reset()
	return &f.report, nil
}

// nothing returns the report of a flush without commands.
func (f *flush) nothing() *Report {
	f.beginLists(f.frame)
	f.active.nothing(f.store.batch)
	f.empty = Report{Epoch: f.store.Epoch()}
	return &f.empty
}

// collect finds the tables with commands, and their shards. It reports whether there are
// commands, including commands to unknown typeIds.
func (f *flush) collect(inWrite bool) (found bool) {
	f.reset()
	ordinals, found := f.store.batch.Gather(f.ended...)
	f.links, f.visits, f.keyed, f.room = false, false, false, false
	for _, ordinal := range ordinals {
		t := f.store.tables[ordinal]
		f.tables = append(f.tables, t)
		f.links, f.visits, f.keyed = f.links || t.links, f.visits || t.visits, f.keyed || t.indexes != nil
		f.active.add(t)
		t.begin(f.frame, inWrite)
	}
	if !slices.IsSortedFunc(f.tables, byTypeID) {
		slices.SortFunc(f.tables, byTypeID)
	}
	f.divide()
	return found
}

func (f *flush) divide() {
	f.work = f.work[:0]
	for _, t := range f.tables {
		for shards := t.flushing.shards; shards != 0; shards = shards.Rest() {
			f.work = append(f.work, t.work(shards.First()))
		}
	}
}

func byTypeID(a, b *table) int { return cmp.Compare(a.first, b.first) }

func (f *flush) reset() {
	clear(f.tables)
	clear(f.work)
	f.tables, f.work = f.tables[:0], f.work[:0]
}

// publish publishes the outcome and begins the next batch.
func (f *flush) publish(current *frame) {
	s := f.store
	r := &f.report
	f.number++
	r.begin(s.epoch.Add(1))
	s.receipts.applied(s.batch, current, f.number)
	s.batch.UnknownErases(f.unrouted)
	calls, unrouted := s.batch.Dropped()
	r.DroppedCalls = calls
	r.Total.Dropped += unrouted
	for _, t := range f.tables {
		t.publish(f.frame, r)
	}
	r.Stale = batch.KeepLowest(r.Stale)
	f.last = f.frame
	s.batch.Finish()
	f.active.trimIdle()
}

// resolvePending returns the real handle of a provisional handle in a recorded value, or
// null.
func (s *Store) resolvePending(id ID) ID {
	if t := s.owner(id); t != nil {
		return t.resolvePending(id)
	}
	return 0
}

// began is the zero time of elapsed.
var began = time.Now()

// elapsed returns the time since began. It takes half the time of [time.Now], which also
// reads the date.
func elapsed() time.Duration { return time.Since(began) }

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
		if err := f.planKeys(ctx); err != nil {
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
		return f.applyKeys(&f.shield)
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
