package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handloom/batch"
	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// isFlush reports whether a step flushes.
func isFlush(op script.Op) bool { return op >= script.Flush && op <= script.FlushCancelLate }

// flush flushes and compares the result. A flush outside a Frame is a frame.
func (p *executor) flush(ctx context.Context, s *script.Step, inWrite bool) {
	if !inWrite {
		p.beginFrame()
	}
	// The model plans first: the store changes the batch.
	y := p.planFlush(!inWrite)
	unchanged := func() {}
	// A digest costs as much as the state, so it is taken only where the state may have to
	// stay.
	if s.Op != script.Flush || y.plan.IsRefused || y.plan.IsEmpty {
		unchanged = p.unchanged(ctx, "a flush that applied nothing")
	}
	y.op, y.ctx = s.Op, ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	switch s.Op {
	case script.FlushCancelled:
		cancel(errCancelled)
	case script.FlushCancelPlan:
		// The first parallel step of a flush is the plan, before the commit.
		p.inject.cancelIn(1, func() { cancel(errCancelled) })
	case script.FlushCancelLate:
		// The second step may be before or after the commit; both results are correct then.
		p.inject.cancelIn(2, func() { cancel(errCancelled) })
	}
	report, err := p.store.Flush(ctx)
	y.compare(report, err, p.inject.cancelled())
	if err == nil && !inWrite { // in a Frame, Stats includes the Frame that has not ended
		p.checkStats()
	}
	if err != nil || y.plan.IsEmpty {
		unchanged()
	}
}

// flushing is a flush and its plan.
type flushing struct {
	*executor
	ctx  context.Context // outside of the flush
	op   script.Op
	ends bool // the events of tables
	plan *model.Plan
}

// planFlush plans the next flush of the exact model. ends says that events end with it.
func (p *executor) planFlush(ends bool) *flushing {
	p.seal()
	return &flushing{executor: p, op: script.Flush, ends: ends, plan: p.exact.Plan(ends)}
}

// compare compares the result of a flush and applies it to the models if the store has
// applied it.
func (y *flushing) compare(report *store.Report, err error, cancelled bool) {
	p, plan := y.executor, y.plan
	switch {
	// Nothing has changed, and the batch stays in both models.
	case y.op == script.FlushCancelled && errors.Is(err, errCancelled):
	// The limit must refuse the flush under every configuration.
	case err == nil && plan.IsRefused:
		p.fail(Limit, "Flush succeeds beyond a limit (%v)", plan.Refused)
	// A flush whose context ends before the commit must fail, also after its plan is
	// complete.
	case err == nil && y.op == script.FlushCancelPlan && cancelled:
		p.fail(Model, "Flush succeeds, whose context ended while it planned")
	case err == nil && y.op == script.FlushCancelled && !plan.IsEmpty:
		p.fail(Model, "Flush succeeds, whose context ended before")
	case err == nil:
		// An empty flush ends no events.
		if y.ends && !plan.IsEmpty {
			// The exact model has planned it.
			p.abstract.EndEvents()
		}
		p.flushed(y.ctx, plan, report, cancelled)
	case cancelled && errors.Is(err, errCancelled):
		p.see(model.CancelInPlan)
	case plan.IsRefused:
		p.expect(err, store.ErrFull, "Flush beyond a limit")
		p.see(plan.Refused)
	default:
		p.fail(Model, "Flush fails: %v", err)
	}
}

var errCancelled = errors.New("the program cancels it")

// flushed compares a flush that was applied.
func (p *executor) flushed(ctx context.Context, plan *model.Plan, report *store.Report, cancelled bool) {
	p.result.Flushes++
	if cancelled {
		p.see(model.CancelTooLate)
	}
	want := plan.Apply()
	// The abstract model forgets its batch when it flushes.
	touched, fresh := p.abstract.Touched(), p.fresh
	if got := p.reported(report); !reportsEqual(got, want) {
		p.fail(Model, "the report is %+v; want %+v", got, want)
		return
	}
	if plan.IsEmpty {
		p.checkChanges()
		return
	}
	err := p.abstract.Flush(plan.Dropped, p.resolved)
	if err != nil {
		p.fail(Model, "%v", err)
		return
	}
	p.resolveCreates(p.resolved)
	// The items of the batch are probed in addition to random ones.
	for _, name := range fresh {
		touched = append(touched, p.names[name].id)
	}
	for _, id := range touched {
		p.probe(id)
	}
	p.checkChanges()
	p.inspect(ctx)
	p.mark(ctx, summary(want))
}

// resolved returns the answer of Resolve, which must be the same through store and table.
func (p *executor) resolved(table int, id uint64) (uint64, bool) {
	return p.tables[table].resolve(id)
}

// resolveCreates compares Resolve of the creates of the batch, and that the creates of the
// last flush do not resolve any longer.
func (p *executor) resolveCreates(resolve func(table int, id uint64) (uint64, bool)) {
	for _, name := range p.old {
		p.probeProvisional(name)
	}
	p.old = nil
	var waiting []int
	for i, name := range p.fresh {
		// Its call has arrived after the seal.
		if p.exact.Waits(name) {
			waiting = append(waiting, name)
			continue
		}
		v := p.names[name]
		got, ok := resolve(v.table, v.provisional)
		want, wanted := p.exact.Resolve(name)
		if ok != wanted || ok && got != want {
			p.fail(Model, "%%%d resolves to %s, %v; want %s, %v", name, model.Text(got), ok, model.Text(want), wanted)
			return
		}
		if ok {
			v.id = got
		}
		// Some old names are enough.
		if i < 64 {
			p.old = append(p.old, name)
		}
	}
	p.fresh = waiting
}

// beginFrame begins a frame in the models. Its first flush seals the inbox.
func (p *executor) beginFrame() {
	p.sealed = false
	p.exact.BeginFrame()
}

// beginWrite is beginFrame for a Frame.
func (p *executor) beginWrite() {
	p.sealed = false
	p.exact.BeginWrite()
}

// seal seals the inbox once per frame, as the store does.
func (p *executor) seal() {
	if !p.sealed {
		p.sealed = true
		p.exact.Seal()
		p.abstract.Seal()
	}
}

// discard drops the batch in the store and in both models.
func (p *executor) discard() {
	if err := p.store.Discard(); err != nil {
		p.fail(Model, "Discard: %v", err)
	}
	// Names of the dropped batch stay stale.
	p.exact.Discard()
	p.abstract.Discard()
	p.fresh = nil
}

// reported converts a report of the store.
func (p *executor) reported(r *store.Report) model.Report {
	m := model.Report{Epoch: r.Epoch, Total: model.Counts(r.Total), DroppedCalls: r.DroppedCalls}
	for _, t := range r.Tables {
		// A report has names, the models have numbers.
		index := slices.IndexFunc(p.program.Tables, func(other script.Table) bool { return other.Name == t.Name })
		m.Tables = append(m.Tables, model.TableReport{Table: index, Counts: model.Counts(t.Counts)})
	}
	for _, c := range r.Columns {
		m.Columns = append(m.Columns, model.ColumnReport{ColumnID: p.columnNamed(c.Name), Counts: model.Counts(c.Counts)})
	}
	for _, s := range r.Stale {
		id := uint64(s.Handle)
		// The bits differ from run to run.
		if s.Handle.IsProvisional() {
			id = 0
		}
		m.Stale = append(m.Stale, model.Sample{
			ID: id, TypeID: s.TypeID, Kind: kinds[s.Kind], Column: columnNumber(s.Column), Pass: s.Pass, Task: s.Task, Sequence: s.Sequence,
		})
	}
	return m
}

var kinds = map[batch.Kind]model.Kind{batch.Erase: model.Erase, batch.Put: model.Put, batch.Set: model.Set, batch.Unset: model.Unset}

// reportsEqual compares all that the models predict. Times are not compared.
func reportsEqual(a, b model.Report) bool {
	return a.Epoch == b.Epoch && a.DroppedCalls == b.DroppedCalls && a.Total == b.Total && slices.Equal(a.Tables, b.Tables) && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Stale, b.Stale)
}

// summary returns the report as text for a mark.
func summary(r model.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d %v", r.Epoch, r.Total)
	for _, s := range r.Stale {
		fmt.Fprintf(&b, " %v", s)
	}
	return b.String()
}
