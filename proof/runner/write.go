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
	var closing *flushing // nil: the Frame fails
	var report *store.Report
	err := p.guarded(func() (err error) {
		report, err = p.store.Frame(ctx, func(frame context.Context, w *store.Writer) error {
			p.beginWrite()
			p.full = false
			for i := range s.Body {
				// The failure is recorded; the Frame only has to end.
				if p.failed() {
					break
				}
				p.do(frame, &s.Body[i], w)
			}
			// The flush at the end belongs to the Frame, not to its last step.
			p.line = s
			switch {
			case p.failed():
			case s.Arg("fail") == 1:
				return errWrite
			case s.Arg("fail") == 2:
				panic(errWrite)
			case !p.full:
				// The flush of the Frame follows the function, so the model plans here.
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
		// Only commands since the last flush inside the Frame are dropped.
		p.exact.DropSince(mark, p.abstract)
	// An Insert was refused, so the Frame must not flush.
	case p.full:
		p.expect(err, store.ErrFull, "a Frame after an insert beyond a limit")
		p.exact.DropSince(mark, p.abstract)
	default:
		closing.compare(report, err, false)
	}
	if !p.failed() {
		p.checkChanges()
		p.inspect(ctx)
		p.checkStats()
		p.mark(ctx, "write")
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

// writing is one step inside a Frame.
type writing struct {
	*executor
	ctx context.Context
	s   *script.Step
	w   *store.Writer
	t   bound
}

var writeSteps map[script.Op]func(y *writing)

func init() { // the functions refer to writeSteps
	writeSteps = map[script.Op]func(y *writing){
		script.Insert:       (*writing).insert,
		script.InsertItems:  (*writing).insert,
		script.Remove:       (*writing).remove,
		script.Clear:        (*writing).clear,
		script.Exchange:     (*writing).exchange,
		script.WriteElement: (*writing).writeElements,
		script.SortSparse:   (*writing).sortSparse,
		script.PutSparse:    (*writing).changeSparse,
		script.RemoveSparse: (*writing).changeSparse,

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
	if _, ordered := y.t.(orderedTable); ordered || !s.Op.NeedsOrder() {
		writeSteps[s.Op](y)
	}
}

// insert inserts items up to the first that is refused. Its links name live items:
// provisional handles are not resolved here.
func (y *writing) insert() {
	links := y.targets(y.s.Refs, place{step: y.step})
	for i := range links {
		if links[i].id>>63 == 1 {
			links[i] = target{}
		}
	}
	for i := range y.s.N {
		item := kept(y.t, value(y.made(y.s, i), links)).Item
		id := y.t.insert(y.w, item)
		want, fits := y.exact.Insert(y.s.Table, item)
		// The store returns the error at the end of the Frame.
		if !fits {
			y.want(id == 0, "an insert beyond a limit returns %s", model.Text(id))
			y.full = true
			return
		}
		if id != want {
			y.fail(Model, "item %d is issued %s; want %s", i, model.Text(id), model.Text(want))
			return
		}
		if err := y.abstract.Insert(y.s.Table, id, item); err != nil {
			y.fail(Model, "%v", err)
		}
		y.bind(y.s.Name+i, id)
	}
}

// remove removes items at once.
func (y *writing) remove() {
	for _, id := range y.ids() {
		_, _, lives := y.abstract.Find(id)
		// Another table's handle removes nothing.
		lives = lives && y.owns(y.s.Table, id)
		if got := y.t.remove(y.w, id); got != lives {
			y.accepted(id, got)
		}
		// Both models remove, whatever the store answered.
		if y.exact.Remove(y.s.Table, id) != y.abstract.Erase(y.s.Table, id) {
			y.fail(Model, "the models differ over erasing %s", model.Text(id))
		}
	}
}

// owns reports whether a handle has a typeId of the table.
func (p *executor) owns(table int, id uint64) bool {
	typeID := int(id>>48) & 0x7fff
	first := int(p.modelled[table].TypeID)
	return typeID >= first && typeID < first+p.modelled[table].Shards
}

// clear empties a table at once.
func (y *writing) clear() {
	y.t.Clear(y.w)
	y.exact.Clear(y.s.Table)
	y.abstract.EraseWhere(y.s.Table, -1, func(model.Item) bool { return true })
}

// same compares the answer of a call for several handles.
func (y *writing) same(what string, got, want any) {
	y.want(got == want, "%s of %s returns %v; want %v", what, list(y.ids()), got, want)
}

// ids returns the handles of the references of the step.
func (y *writing) ids() []uint64 {
	var ids []uint64
	for _, t := range y.targets(y.s.Refs, place{step: y.step}) {
		ids = append(ids, t.id)
	}
	return ids
}
