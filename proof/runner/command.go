package runner

import (
	"context"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// ctx is the context of the task, or nil.
func (r *running) command(ctx context.Context, c *script.Step, task int, q store.Queue) {
	at := r.places[task]
	switch c.Op {
	case script.Emplace, script.EmplaceItems, script.EmplaceSelf, script.EmplaceDrawn:
		r.create(c, task, q, at)
	case script.Staged:
		r.staged(c, task, q, at)
	case script.Put:
		to, v := r.replacement(c, at)
		r.tables[c.Table].put(q, to.id, v.Item)
		r.note(task, model.Command{Kind: model.Put, Table: c.Table, ID: to.id, Name: to.name, Value: v})
	case script.Set:
		r.set(c, task, q, at)
	case script.Unset:
		r.unset(c, task, q, at)
	case script.Erase, script.EraseItems, script.EraseID:
		r.erasing(c, task, q, r.targets(c.Refs, at))
	case script.EraseAll:
		r.tables[c.Table].EraseAll(q)
		r.note(task, model.Command{Kind: model.EraseAll, Table: c.Table})
	case script.EraseRow:
		if row := c.Arg("i"); row < len(at.chunk) {
			// The chunk decides whether the erase is by row or by handle.
			r.erase[task](row)
			// Chunks of packed tables erase by row. The models place such an erase after
			// the other erases of its task.
			byRow := r.step.Op != script.ForEachSparse && r.program.Tables[r.rows].Kind == script.Packed
			r.note(task, model.Command{Kind: model.Erase, Table: r.rows, ID: at.chunk[row], ByRow: byRow})
		}
	// No task changes structure, so the exact model answers for the whole pass.
	case script.Has:
		for _, t := range r.targets(c.Refs, at) {
			if got, want := r.has(t.id), r.exact.Lives(t.id); got != want {
				r.accepted(t.id, got)
			}
		}
	case script.ReduceInTask:
		if ctx != nil { // queues and the inbox have no context
			r.reduceInTask(ctx, c.Table)
		}
	}
}

// note adds a command to the list of its task. Tasks have separate lists, so they need no
// lock.
func (r *running) note(task int, c model.Command) { r.logs[task] = append(r.logs[task], c) }

// The name of an item is its serial.
func (p *executor) made(c *script.Step, i int) model.Item {
	return p.tables[c.Table].keeps(model.Item{Key: uint64(c.Arg("v") + i), Serial: uint64(c.Name + i)})
}

// create records creates and notes the values that the store must have.
func (r *running) create(c *script.Step, task int, q store.Queue, at place) {
	t := r.tables[c.Table]
	links := r.targets(c.Refs, at)
	// Only rich items have links in a slice.
	share := c.Op == script.EmplaceItems && c.Arg("share") == 1 && r.program.Tables[c.Table].Item == script.Rich
	values := make([]model.Value, c.N)
	items := make([]model.Item, c.N)
	for i := range values {
		item := r.made(c, i)
		// The draw depends on seed, pass and task alone. The marks compare it across
		// configurations.
		if c.Op == script.EmplaceDrawn && r.draws() {
			item.Key = uint64(q.Rand().Uint32())
		}
		// The models get the value as the store will have it.
		values[i] = kept(t, value(t.keeps(item), links))
		if share {
			values[i].Share = c.Name
		}
		items[i] = values[i].Item
	}
	// All handles are bound after the call, because no command of the task can run inside
	// it.
	var ids []uint64
	switch c.Op {
	case script.EmplaceItems:
		ids = t.emplaceItems(q, items, share)
	default:
		ids = []uint64{t.emplace(q, items[0])}
	}
	own := c.Op == script.EmplaceSelf && ids[0] != 0 // the queue is not full
	if own && c.Arg("self") == 1 {
		values[0].Links[0], values[0].Names[0] = ids[0], c.Name
		values[0] = kept(t, values[0])
		t.staged(q, ids[0], values[0].Item)
	}
	for i, id := range ids {
		// From here on later commands of the task see the name.
		r.bind(c.Name+i, id)
		r.note(task, model.Command{Kind: model.Create, Table: c.Table, ID: id, Name: c.Name + i, Value: values[i]})
	}
	if own && c.Arg("erase") == 1 {
		t.erase(q, ids[0])
		r.note(task, model.Command{Kind: model.Erase, Table: c.Table, ID: ids[0], Name: c.Name})
	}
}

// draws reports whether the queue has random numbers: only tasks of passes do.
func (r *running) draws() bool {
	return r.program.Store.Seed > 0 && r.step.Op != script.Queues && r.step.Op != script.Inbox
}

// keeper is a table or a part.
type keeper interface {
	keeps(i model.Item) model.Item
}

// kept returns a value as its type stores it.
func kept(by keeper, v model.Value) model.Value {
	v.Item = by.keeps(v.Item)
	// The type keeps no links, so no name can be resolved in it.
	if v.Links == [model.Links]uint64{} {
		v.Names = [model.Links]int{}
	}
	return v
}

// replacement returns the target of a put and the new value, whose links are the other
// references.
func (r *running) replacement(c *script.Step, at place) (target, model.Value) {
	all := r.targets(c.Refs, at)
	return all[0], recorded(r.tables[c.Table], c, all[1:])
}

// recorded returns the value of a put or Set.
func recorded(by keeper, c *script.Step, links []target) model.Value {
	item := by.keeps(model.Item{Key: uint64(c.Arg("v")), Serial: uint64(c.Arg("s"))})
	return kept(by, value(item, links))
}

// staged completes a create. Both models need the answer of the store.
func (r *running) staged(c *script.Step, task int, q store.Queue, at place) {
	to, v := r.replacement(c, at)
	ok := r.tables[c.Table].staged(q, to.id, v.Item)
	r.note(task, model.Command{Kind: model.Stage, Table: c.Table, ID: to.id, Name: to.name, OK: ok, Value: v})
}

// erasing records erases, one by one or in one call.
func (r *running) erasing(c *script.Step, task int, q store.Queue, targets []target) {
	kind := model.Erase
	var ids []uint64
	for _, t := range targets {
		switch c.Op {
		case script.EraseID:
			kind = model.EraseUntyped
			q.Erase(store.ID(t.id))
		case script.Erase:
			r.tables[c.Table].erase(q, t.id)
		}
		// EraseItems is one call for all; the models see single erases.
		ids = append(ids, t.id)
		r.note(task, model.Command{Kind: kind, Table: c.Table, ID: t.id, Name: t.name})
	}
	if c.Op == script.EraseItems {
		r.tables[c.Table].eraseItems(q, ids)
	}
}

// The store must refuse the table that the pass writes.
func (r *running) reduceInTask(ctx context.Context, table int) {
	got, err := r.tables[table].reduce(ctx, func() {
		// The refusal must hold inside a Reduce, too.
		if r.writes >= 0 {
			r.expect(second(r.tables[r.writes].reduce(ctx, nil)), store.ErrPhase, "Reduce within a Reduce, over the table that the pass writes")
		}
	})
	if table == r.writes {
		r.expect(err, store.ErrPhase, "Reduce over the table that the pass writes")
		return
	}
	r.want(err == nil && got == r.sums[table], "Reduce inside a task: %+v, %v; want %+v", got, err, r.sums[table])
}
