package runner

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// running is a running pass. Its tasks write only to their own elements.
type running struct {
	*executor
	step   *script.Step
	bodies [][]*script.Step // by task
	places []place          // by task: place of the next command
	erase  []func(row int)  // by task: erases in its chunk
	logs   [][]model.Command
	failed int       // lowest failing task, or the number of tasks
	how    script.Op // kind of failure
	writes int       // table whose items the pass writes, or -1
	rows   int
	sums   map[int]model.Sum // by table: expected Reduce in a task
}

// running prepares a pass. It finds the failing task in advance, because a task must not
// wait for others.
func (p *executor) running(s *script.Step, tasks int) *running {
	r := &running{
		executor: p, step: s, writes: -1, failed: tasks,
		bodies: make([][]*script.Step, tasks), places: make([]place, tasks),
		erase: make([]func(int), tasks), logs: make([][]model.Command, tasks),
		sums: make(map[int]model.Sum),
	}
	for i := range s.Body {
		// A shrunk program may have commands of tasks that no longer exist.
		if c := &s.Body[i]; c.Task < tasks {
			r.bodies[c.Task] = append(r.bodies[c.Task], c)
			p.result.Operations++
			if c.Op == script.ReduceInTask {
				// Before the pass: its own tasks do not change the table that they may
				// reduce.
				r.sums[c.Table] = p.exact.Fold(c.Table)
			}
		}
	}
	// The lowest failing task decides the error, so it is noted last.
	for task, body := range slices.Backward(r.bodies) {
		r.places[task] = place{step: p.step, task: task}
		if i := slices.IndexFunc(body, func(c *script.Step) bool { return fails(c.Op) }); i >= 0 {
			r.failed, r.how = task, body[i].Op
		}
	}
	return r
}

// fails reports whether an operation makes its task fail.
func fails(op script.Op) bool {
	return op == script.FailError || op == script.FailPanic
}

// task runs the commands of a task.
func (r *running) task(task int, q store.Queue) {
	for _, c := range r.bodies[task] {
		r.places[task].at++
		switch c.Op {
		case script.FailError:
			q.Fail(taskError(task))
			return
		case script.FailPanic:
			// The store must return it as a PanicError of this task.
			panic(errTask)
		}
		r.command(q.Context(), c, task, q)
	}
}

// record gives the commands of a successful pass or call to the abstract model and notes
// the creates that the next flush must resolve.
func (r *running) record(late bool) {
	for _, log := range r.logs {
		r.abstract.Record(log, late)
		for i := range log {
			if log[i].Kind == model.Create {
				r.fresh, r.recorded = append(r.fresh, log[i].Name), append(r.recorded, log[i].Name)
			}
		}
	}
}

// each runs an Each.
func (p *executor) each(ctx context.Context, s *script.Step) {
	tasks := s.Arg("tasks")
	r := p.running(s, tasks)
	r.run(ctx, func(ctx context.Context) error { return p.store.Each(ctx, tasks, r.task) })
}

// visit is a pass over the items of a table, over its rows, or over sparse data.
type visit struct {
	chunks  []model.Chunk
	pass    func(ctx context.Context, f func(c chunk)) error
	isItems bool           // the pass writes the items
	column  model.ColumnID // column written or added to; -1: none
	source  model.ColumnID // column whose elements the pass adds to column; -1: none
}

// visit returns the pass of a step, or false if the table has no such part.
func (p *executor) visit(s *script.Step) (v visit, ok bool) {
	t := p.tables[s.Table]
	// -1 means no column: 0 is a column.
	v.column.Column, v.source.Column = -1, -1
	if s.Op == script.ForEach {
		v.chunks, v.pass, v.isItems = p.exact.Chunks(s.Table), t.forEach, true
		if column, _, ok := p.part(s, s.Arg("beside")-1); ok && s.Arg("beside") > 0 {
			v.column = column
		}
		return v, true
	}
	column, part, ok := p.part(s, s.Arg("c"))
	if !ok {
		return v, false
	}
	v.column = column
	if data, ok := part.(boundSparse); ok {
		v.chunks, v.pass = p.exact.SparseChunks(column, data.chunkRows()), data.forEach
	} else {
		v.chunks, v.pass = p.exact.Chunks(s.Table), t.(orderedTable).forEachRows
		v.source, _, _ = p.part(s, s.Arg("d"))
	}
	return v, true
}

// forEach runs a pass over chunks, and compares the chunks and everything that tasks see.
func (p *executor) forEach(ctx context.Context, s *script.Step, inWrite bool) {
	v, ok := p.visit(s)
	if !ok {
		return
	}
	r := p.running(s, len(v.chunks))
	if r.rows = s.Table; v.isItems {
		r.writes = s.Table
	}
	change := changing(s)
	every := s.Arg("wrote") // a pass that notes items notes all that it changes
	touch := v.isItems && (p.program.Tables[s.Table].Fixed == 1 || s.Arg("touch") == 1 || every > 0)
	visits := make([]atomic.Int32, len(v.chunks))
	ran := r.run(ctx, func(ctx context.Context) error {
		return v.pass(ctx, func(c chunk) {
			// The task records nothing after a failure.
			if !p.isChunk(&c, v.chunks) {
				return
			}
			visits[c.index].Add(1)
			if v.isItems {
				c.change(change, touch)
			}
			p.changeElements(&c, v, change)
			// The notes are the only way in which Written learns of writes in place.
			c.note(v.column.Column, every)
			// The chunk number is the task number.
			r.places[c.index].chunk, r.erase[c.index] = c.handles, c.erase
			if c.erase == nil {
				r.erase[c.index] = func(row int) { p.tables[s.Table].erase(c.queue, c.handles[row]) }
			}
			r.task(c.index, c.queue)
		})
	})
	// A refused pass has changed nothing.
	if !ran {
		return
	}
	var noted []uint64
	for i := range v.chunks {
		if n := visits[i].Load(); n != 1 {
			p.fail(Model, "chunk %d of %d is visited %d times", i, len(v.chunks), n)
		}
		noted = append(noted, everyNth(v.chunks[i].Handles, every)...)
		for _, id := range v.chunks[i].Handles {
			if key := *p.exact.Item(id); touch && change(&key.Key) {
				noted = append(noted, id)
			}
			if v.column.Column < 0 {
				continue
			}
			// The same change again, for the model, after all tasks have ended.
			read := uint64(0)
			if v.source.Column >= 0 {
				read = p.exact.Element(v.source, id).Key
			}
			p.changeElement(v.column, id, func(key *uint64) {
				if change(key) {
					*key += read
				}
			})
		}
	}
	if v.isItems {
		p.changeBoth(s.Table, func(i *model.Item) { change(&i.Key) })
	}
	if v.isItems && p.program.Tables[s.Table].Changes == 1 {
		p.exact.Wrote(s.Table, noted, inWrite)
		p.checkWritten(s.Table)
	} else if p.tracked[v.column] && !v.isItems {
		p.exact.WroteColumn(v.column, noted, inWrite)
		p.checkWrittenColumn(v.column)
	}
}

// changeElements changes the elements of a chunk in place, on the goroutine of its task.
func (p *executor) changeElements(c *chunk, v visit, change func(*uint64) bool) {
	if v.column.Column < 0 {
		return
	}
	own := c.elements(v.column.Column, true)
	if own.len() != len(c.handles) {
		p.fail(Model, "%d elements lie beside %d items", own.len(), len(c.handles))
		return
	}
	for i, id := range c.handles {
		var read model.Item
		if v.source.Column >= 0 {
			source := p.tables[v.source.Table].parts()[v.source.Column]
			read = c.elements(v.source.Column, false).at(i)
			if got, ok := source.get(id); !ok || got != read {
				p.fail(Model, "column %d of %s has %+v beside its row and is found as %+v", v.source.Column, model.Text(id), read, got)
			}
		}
		own.change(i, func(key *uint64) {
			if change(key) {
				*key += read.Key
			}
		})
	}
}

// note notes writes to every n-th row.
func (c *chunk) note(column, every int) {
	// One note for the chunk must be equal to a note per item.
	if every == 1 && c.wroteAll != nil {
		c.wroteAll()
		return
	}
	for i := 0; every > 0 && i < len(c.handles); i += every {
		c.wrote(column, i)
	}
}

// everyNth returns the handles of the rows that note notes.
func everyNth(handles []uint64, n int) (some []uint64) {
	for i := 0; n > 0 && i < len(handles); i += n {
		some = append(some, handles[i])
	}
	return some
}

// changing returns the change of keys that a step describes, and whether it changes a key.
func changing(s *script.Step) func(*uint64) bool {
	add, every, rem := s.Arg("add"), s.Arg("every"), s.Arg("rem")
	return func(key *uint64) bool {
		if add == 0 || !picks(every, rem, *key) {
			return false
		}
		*key += uint64(add)
		return true
	}
}

// picks reports whether a change is for a key.
func picks(every, rem int, key uint64) bool {
	return every == 0 || key%uint64(every) == uint64(rem%every)
}

// changeBoth changes all items of a table in both models.
func (p *executor) changeBoth(table int, f func(*model.Item)) {
	p.exact.Change(table, f)
	p.abstract.Change(table, f)
}

// queues runs a pass with its own goroutines, whose queues stay open until the
// flush.
func (p *executor) queues(s *script.Step) {
	tasks := s.Arg("tasks")
	r := p.running(s, tasks)
	queues, err := p.store.Queues(tasks)
	if p.refused(err) {
		return
	}
	// The store has begun the pass, so its queues have a key even without commands.
	number := p.exact.BeginPass()
	var running sync.WaitGroup
	for task := range queues {
		running.Go(func() {
			for _, c := range r.bodies[task] {
				// Queues have no pass that could fail, so the task only ends.
				if r.places[task].at++; fails(c.Op) {
					return
				}
				r.command(outside, c, task, queues[task])
			}
		})
	}
	running.Wait()
	if wrong := p.exact.EndPass(number, r.logs, false, true); wrong != nil {
		p.fail(Model, "%v", wrong)
	}
	r.record(false)
	p.checkPending()
}
