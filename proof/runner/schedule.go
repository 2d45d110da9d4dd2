package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// scheduleRun is one frame of a schedule: every system records what its task says, in
// a pass of its own, but for the reader, which sums up the first table. The
// reader waits for what systems before it recorded, so that there is a flush.
type scheduleRun struct {
	*running
	reader   int // number of the system; -1: none
	sum      model.Sum
	resolved map[uint64]uint64 // what became of the creates of the first flush
}

// scheduled is how many tables a program may have for its systems to name them
// all.
const scheduled = 20

// schedule runs one frame of as many systems as there are tasks. Programs with
// limits leave it out: systems that fail by them are not predicted.
func (p *executor) schedule(ctx context.Context, s *script.Step, inWrite bool) {
	n := s.Arg("tasks")
	if n == 0 || len(p.tables) > scheduled || p.program.Store != (script.Store{}) {
		return
	}
	f := &scheduleRun{running: p.running(s, n), reader: s.Arg("reader")%(n+1) - 1, resolved: make(map[uint64]uint64)}
	if !inWrite {
		p.beginWrite()
	}
	schedule, err := store.NewSchedule(p.store, f.systems()...)
	if err != nil {
		p.fail(Model, "NewSchedule: %v", err)
		return
	}
	if text := schedule.Explain(); !strings.Contains(text, fmt.Sprintf("system %d", n-1)) {
		p.fail(Model, "Explain leaves out a system:\n%s", text)
	}
	report, err := schedule.Run(ctx)
	p.after = nil // each flush of the frame has called it
	f.compare(ctx, report, err)
}

func (f *scheduleRun) systems() []store.System {
	var all []store.Resource
	for _, t := range f.tables {
		all = append(all, t.resource())
		for _, part := range t.parts() {
			all = append(all, part.resource())
		}
	}
	var systems []store.System
	for i := range f.bodies {
		y := store.System{Name: fmt.Sprintf("system %d", i), Emits: all}
		y.Run = func(ctx context.Context) error {
			return f.store.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
				for _, c := range f.bodies[i] {
					// Whether a lookup comes before the flush of the reader is the plan's to say.
					if f.places[i].at++; !fails(c.Op) && c.Op != script.Has {
						f.command(outside, c, i, q)
					}
				}
				return nil
			})
		}
		if i == f.reader {
			y.Emits, y.Reads = nil, all
			y.Run = f.read
		}
		systems = append(systems, y)
	}
	return systems
}

// read is the reader: what it sees is what the first flush left.
func (f *scheduleRun) read(ctx context.Context) (err error) {
	f.sum, err = f.tables[0].reduce(ctx, nil)
	ask := func(name int) {
		v := f.names[name]
		if id, ok := f.tables[v.table].resolve(v.provisional); ok {
			f.resolved[v.provisional] = id
		}
	}
	for _, name := range f.fresh {
		ask(name)
	}
	for _, log := range f.logs[:f.reader] {
		for i := range log {
			if log[i].Kind == model.Create {
				ask(log[i].Name)
			}
		}
	}
	return err
}

// compare does the frame to the models, and compares.
func (f *scheduleRun) compare(ctx context.Context, report *store.Report, err error) {
	want := model.Report{Epoch: f.exact.Epoch()}
	from, flushes := 0, 0
	if f.reader > 0 {
		plan := f.join(0, f.reader)
		if f.ended(plan, err) {
			return
		}
		want = plan.Apply()
		f.flushedEarly(plan)
		from, flushes = f.reader+1, 1
	}
	if f.reader >= 0 {
		from = f.reader + 1
		if sum := f.exact.Fold(0); sum != f.sum {
			f.fail(Model, "the reader sums up %+v; want %+v", f.sum, sum)
		}
	}
	if from < len(f.bodies) {
		plan := f.join(from, len(f.bodies))
		if f.ended(plan, err) {
			return
		}
		last := plan.Apply()
		want = model.MergeReports(want, last)
		f.flushedLast(plan)
		flushes++
	}
	if err != nil {
		f.fail(Model, "Run of the schedule: %v", err)
		return
	}
	got := f.reported(report)
	arrange(&got)
	arrange(&want)
	f.want(reportsEqual(got, want), "the report of the frame is %+v; want %+v", got, want)
	f.result.Flushes += flushes
	if flushes > 0 && want.Epoch > 0 {
		f.checkChanges()
	}
	f.inspect(ctx)
	f.mark(ctx, summary(want))
}

// arrange sorts what a frame with two flushes leaves the order of open: tables,
// and samples that have the same key in both flushes. Which of such are among the
// first 8 is open as well, so that of 8 nothing is said.
func arrange(r *model.Report) {
	slices.SortFunc(r.Tables, func(a, b model.TableReport) int { return cmp.Compare(a.Table, b.Table) })
	slices.SortFunc(r.Columns, func(a, b model.ColumnReport) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
	})
	slices.SortFunc(r.Stale, func(a, b model.Sample) int {
		return cmp.Or(cmp.Compare(a.TypeID, b.TypeID), cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Task, b.Task),
			cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.ID, b.ID))
	})
	if len(r.Stale) == 8 {
		r.Stale = nil
	}
}

// join gives the passes of systems to the models and returns what the flush
// behind them does.
func (f *scheduleRun) join(from, to int) *model.Plan {
	for i := from; i < to; i++ {
		log := [][]model.Command{f.logs[i]}
		if _, wrong := f.exact.EndPass(f.exact.BeginPass(), log, false, false); wrong != nil {
			f.fail(Model, "%v", wrong)
		}
		(&running{executor: f.executor, logs: log}).record(false)
	}
	f.seal()
	return f.exact.Plan()
}

// ended reports whether a flush of the frame must fail, and checks that it does.
// The frame ends there and the batch is kept, with what the systems of a last
// flush recorded.
func (f *scheduleRun) ended(p *model.Plan, err error) bool {
	switch {
	case p.IsFull:
		f.expect(err, store.ErrQueueFull, "a frame with a queue that is full")
	case p.IsRefused:
		f.expect(err, store.ErrFull, "a frame beyond a limit")
		f.see(p.Refused)
	}
	return p.IsFull || p.IsRefused
}

// flushedEarly does the first of two flushes to the abstract model.
func (f *scheduleRun) flushedEarly(p *model.Plan) {
	f.flushedWith(p, func(_ int, id uint64) (uint64, bool) {
		real, ok := f.resolved[id]
		return real, ok
	})
}

func (f *scheduleRun) flushedLast(p *model.Plan) { f.flushedWith(p, f.executor.resolved) }

func (f *scheduleRun) flushedWith(p *model.Plan, resolve func(int, uint64) (uint64, bool)) {
	if p.IsEmpty {
		return
	}
	if err := f.abstract.Flush(p.Dropped, resolve); err != nil {
		f.fail(Model, "%v", err)
	}
	f.settle(resolve)
}
