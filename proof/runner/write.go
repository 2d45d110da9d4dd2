package runner

import (
	"context"
	"errors"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

var errWrite = errors.New("the write fails")

// write runs the steps of its body in a Frame. If that fails by an error (fail=1) or a panic
// (fail=2), its changes persist and its recorded commands are dropped.
func (p *executor) write(ctx context.Context, s *script.Step) {
	mark := p.exact.Mark(p.abstract)
	var closing *flushing // nil: the Frame fails, or its last frame is over
	var report *store.Report
	err := p.guarded(func() (err error) {
		report, err = p.store.Frame(ctx, func(frame context.Context, w *store.Writer) error {
			p.beginWrite()
			p.exposed, p.full, p.last = make(map[int]bool), false, nil
			for i := range s.Body {
				if p.failed() {
					break
				}
				p.do(frame, &s.Body[i], w)
			}
			p.line = s
			switch {
			case p.failed():
			case s.Arg("fail") == 1:
				return errWrite
			case s.Arg("fail") == 2:
				panic(errWrite)
			case !p.full && (p.last == nil || p.sealed || p.exact.Passes() > 0):
				closing = p.planFlush(true)
				closing.ctx = ctx
			}
			return nil
		})
		return err
	}, errWrite)
	switch wants := s.Arg("fail") == 1 || s.Arg("fail") == 2; {
	case p.failed():
	case wants:
		p.expect(err, errWrite, "Frame")
		p.exact.DropSince(mark, p.abstract)
	case p.full:
		p.expect(err, store.ErrFull, "a Frame after an insert beyond a limit")
		p.exact.DropSince(mark, p.abstract)
	case closing != nil:
		closing.compare(report, err, false)
	default:
		p.want(err == nil && report == p.last, "a Frame after EndFrame returns %v, %v", report, err)
	}
	if !p.failed() {
		p.checkChanges()
		p.inspect(ctx)
		p.checkStats()
		p.mark(ctx, "write")
	}
}

// endFrame ends the frame, which fails after an insert beyond a limit.
func (y *writing) endFrame() {
	if y.full {
		y.expect(second(y.w.EndFrame()), store.ErrFull, "EndFrame after an insert beyond a limit")
		return
	}
	closing := y.planFlush(true)
	closing.ctx = y.ctx
	report, err := y.w.EndFrame()
	closing.compare(report, err, false)
	if err == nil {
		y.beginFrame()
		y.last = report
	}
}

// guarded returns the error of f, or the program's own error that f panics
// with.
func (p *executor) guarded(f func() error, own error) (err error) {
	defer func() {
		if v := recover(); v == own {
			err = own
		} else if v != nil {
			panic(v)
		}
	}()
	return f()
}

type writing struct {
	*executor
	ctx context.Context
	s   *script.Step
	w   *store.Writer
	t   bound
	m   boundMap               // of the shard
	x   *model.Map[model.Item] // its model
}

var writeSteps map[script.Op]func(y *writing)

func init() { // the functions refer to writeSteps
	writeSteps = map[script.Op]func(y *writing){
		script.EndFrame:  (*writing).endFrame,
		script.Insert:    (*writing).insert,
		script.Clear:     func(y *writing) { y.t.Clear(y.w); y.exact.Clear(y.s.Table); y.gone(-1, every) },
		script.ClearMap:  func(y *writing) { y.m.Clear(); y.x.Clear(); y.gone(y.s.Shard, every) },
		script.Reset:     (*writing).reset,
		script.EraseNow:  (*writing).eachSingle,
		script.Remove:    (*writing).eachSingle,
		script.SetNow:    (*writing).eachSingle,
		script.EraseFunc: (*writing).eraseFunc,

		script.InsertItems:     (*writing).insertMany,
		script.EmplaceItemsNow: (*writing).insertMany,
		script.EraseItemsNow:   (*writing).eraseMany,
		script.Exchange:        (*writing).exchange,
		script.WriteElement:    (*writing).writeElements,
		script.SortSparse:      (*writing).sortSparse,
		script.PutSparse:       (*writing).changeSparse,
		script.RemoveSparse:    (*writing).changeSparse,

		script.SortTable: (*writing).sortTable,
		script.SortTableByKey: func(y *writing) {
			mask := keyMask(y.s)
			err := y.t.(orderedTable).sortTableByKey(y.ctx, y.w, func(i model.Item) uint64 { return i.Key & mask })
			y.want(err == nil, "SortByKey of a table: %v", err)
			y.sorted(byMasked(mask))
		},
		script.DefragmentTable: (*writing).defragmentTable,
	}
}

// writeStep runs one step of a Frame. Ordering steps do nothing to a stable
// table.
func (p *executor) writeStep(ctx context.Context, s *script.Step, w *store.Writer) {
	y := &writing{executor: p, ctx: ctx, s: s, w: w, t: p.tables[s.Table]}
	if s.Op.HasShard() {
		y.m, y.x = y.maps()[s.Shard], p.exact.Map(s.Table, s.Shard)
	}
	if _, ordered := y.t.(orderedTable); ordered || !s.Op.NeedsOrder() {
		writeSteps[s.Op](y)
	}
}

// maps returns the maps of the table, which then does not see erases.
func (y *writing) maps() []boundMap {
	y.exposed[y.s.Table] = true
	return y.t.maps(y.w)
}

func every(model.Item) bool { return true }

// gone erases the items for which f is true from the abstract model, in a shard
// or in all shards.
func (y *writing) gone(shard int, f func(model.Item) bool) {
	y.abstract.EraseWhere(y.s.Table, shard, f)
}

func (y *writing) same(what string, got, want any) {
	y.want(got == want, "%s of %s returns %v; want %v", what, list(y.ids()), got, want)
}

func (y *writing) ids() []uint64 {
	var ids []uint64
	for _, t := range y.targets(y.s.Refs, place{step: y.step}) {
		ids = append(ids, t.id)
	}
	return ids
}

func picking(s *script.Step) func(model.Item) bool {
	every, rem := s.Arg("every"), s.Arg("rem")
	return func(i model.Item) bool { return picks(every, rem, i.Key) }
}
