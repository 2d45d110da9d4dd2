package play

import (
	"context"
	"errors"
	"slices"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
	"handloom/store"
)

var errWrite = errors.New("the write fails")

// write holds the store alone for the steps of its body. What they changed stays
// when it fails, by an error (fail=1) or a panic (fail=2).
func (p *player) write(ctx context.Context, s *program.Step) {
	err := p.guarded(func() error {
		return p.store.Write(ctx, func(ctx context.Context, w *store.Writer) error {
			p.beginFrame()
			for i := range s.Body {
				if p.failed() {
					break
				}
				p.do(ctx, &s.Body[i], w)
			}
			p.line = s
			switch {
			case p.failed():
			case s.Arg("fail") == 1:
				return errWrite
			case s.Arg("fail") == 2:
				panic(errWrite)
			}
			return nil
		})
	}, errWrite)
	if wants := s.Arg("fail") == 1 || s.Arg("fail") == 2; wants && !p.failed() {
		p.expect(err, errWrite, "Write")
		p.see(model.WriteFailed)
	} else if err != nil {
		p.fail(Model, "Write: %v", err)
	}
	if !p.failed() {
		p.inspect(ctx)
		p.inspectFigures()
		p.mark(ctx, "write")
	}
}

// guarded calls f and returns its error or what it panicked with, if that is one
// of the program's own.
func (p *player) guarded(f func() error, own error) (err error) {
	defer func() {
		if v := recover(); v == own {
			err = own
		} else if v != nil {
			panic(v)
		}
	}()
	return f()
}

// writing is one step of a write that is no phase of its own, and what it is about.
type writing struct {
	*player
	ctx context.Context
	s   *program.Step
	w   *store.Writer
	t   bound
	m   boundMap               // of the shard
	o   orderedMap             // the same, of a packed table
	x   *model.Map[model.Item] // what must become of it
}

// writeSteps are what such steps do, to the store and to both models.
var writeSteps map[program.Op]func(y *writing)

func init() { // what they call asks for them again
	writeSteps = map[program.Op]func(y *writing){
		program.EndFrame:  func(y *writing) { y.w.EndFrame(); y.beginFrame() },
		program.Insert:    (*writing).insert,
		program.Clear:     func(y *writing) { y.t.Clear(y.w); y.exact.Clear(y.s.Table); y.gone(-1, every) },
		program.ClearMap:  func(y *writing) { y.m.Clear(); y.x.Clear(); y.gone(y.s.Shard, every) },
		program.Reset:     (*writing).reset,
		program.EraseNow:  (*writing).eachSingle,
		program.Remove:    (*writing).eachSingle,
		program.TakeNow:   (*writing).eachSingle,
		program.SetNow:    (*writing).eachSingle,
		program.CallNow:   (*writing).eachSingle,
		program.EraseFunc: (*writing).eraseFunc,
		program.EraseBackward: func(y *writing) {
			y.m.eraseBackward(picking(y.s))
			y.x.EraseBackward(picking(y.s))
			y.gone(y.s.Shard, picking(y.s))
		},
		program.InsertItems:     (*writing).insertMany,
		program.EmplaceItemsNow: (*writing).insertMany,
		program.InsertFunc:      (*writing).insertMany,
		program.EraseItemsNow:   (*writing).eraseMany,
		program.ReserveNow:      func(y *writing) { y.sameDigest("room", func() { y.m.Reserve(y.s.Arg("n")) }) },
		program.Shrink:          func(y *writing) { y.sameDigest("room", y.m.Shrink) },
		program.Clone:           (*writing).clone,
		program.Look:            (*writing).look,

		program.SortFunc: (*writing).sort,
		program.SortByKey: func(y *writing) {
			mask := keyMask(y.s)
			y.o.sortByKey(func(i model.Item) uint64 { return i.Key & mask })
			y.x.Sort(0, y.x.Len(), byMasked(mask))
		},
		program.SortRange: func(y *writing) {
			i := min(y.s.Arg("i"), y.x.Len())
			j := max(i, min(y.s.Arg("j"), y.x.Len()))
			y.o.sortRange(i, j, order(y.s))
			y.x.Sort(i, j, order(y.s))
		},
		program.SortAs: func(y *writing) { ids := y.ids(); y.o.sortAs(ids); y.x.SortAs(ids) },
		program.Partition: func(y *writing) {
			y.same("Partition", y.o.partition(picking(y.s)), y.x.Partition(picking(y.s)))
		},
		program.Swap: func(y *writing) {
			if ids := y.ids(); len(ids) > 1 {
				y.same("Swap", y.o.swap(ids[0], ids[1]), y.x.Swap(ids[0], ids[1]))
			}
		},
		program.Defragment:  (*writing).defragment,
		program.ForgetOrder: func(y *writing) { y.o.defragment(nil, 0); delete(y.sortedBy, y.at(y.s.Shard)) },

		program.SortTable: (*writing).sortTable,
		program.SortTableByKey: func(y *writing) {
			mask := keyMask(y.s)
			err := y.t.(orderedTable).sortTableByKey(y.ctx, y.w, func(i model.Item) uint64 { return i.Key & mask })
			if err != nil {
				y.fail(Model, "SortByKey of a table: %v", err)
			}
			for shard := range y.modelled[y.s.Table].Shards {
				y.sorted(shard, byMasked(mask))
			}
		},
		program.DefragmentTable: (*writing).defragmentTable,
	}
}

// writeStep does one step of a write that is none of its own phase. What is about
// an order does nothing to a stable table, which keeps that to itself.
func (p *player) writeStep(ctx context.Context, s *program.Step, w *store.Writer) {
	y := &writing{player: p, ctx: ctx, s: s, w: w, t: p.tables[s.Table]}
	if s.Op.HasShard() {
		y.m, y.x = y.t.maps(w)[s.Shard], p.exact.Map(s.Table, s.Shard)
		y.o, _ = y.m.(orderedMap)
	}
	if _, ordered := y.t.(orderedTable); ordered || !s.Op.NeedsOrder() {
		writeSteps[s.Op](y)
	}
}

func every(model.Item) bool { return true }

// at is where the player keeps what it knows of a shard.
func (y *writing) at(shard int) [2]int { return [2]int{y.s.Table, shard} }

// gone tells the abstract model that the items of a shard, or of all, are erased for
// which f is true.
func (y *writing) gone(shard int, f func(model.Item) bool) {
	y.abstract.EraseWhere(y.s.Table, shard, f)
}

// same fails unless two answers are.
func (y *writing) same(what string, got, want any) {
	if got != want {
		y.fail(Model, "%s of %s returns %v; want %v", what, list(y.ids()), got, want)
	}
}

// ids are the handles that the step names.
func (y *writing) ids() []uint64 {
	var ids []uint64
	for _, t := range y.targets(y.s.Refs, place{step: y.step}) {
		ids = append(ids, t.id)
	}
	return ids
}

// sameDigest sees that something leaves the map as it is.
func (y *writing) sameDigest(what string, f func()) {
	before := y.m.Digest()
	f()
	if after := y.m.Digest(); after != before {
		y.fail(Model, "%s changed, and the digest of the map was %016x and is %016x", what, before, after)
	}
}

// throws reports whether f panics as the program asks for. Then the map is as it
// was.
func (y *writing) throws(f func()) bool {
	before := y.m.Digest()
	if y.guarded(func() error { f(); return nil }, errTask) == nil {
		return false
	}
	y.see(model.CallbackPanic)
	if after := y.m.Digest(); after != before {
		y.fail(Model, "a callback panicked, and the digest of the map was %016x and is %016x", before, after)
	}
	return true
}

// picking is what a step erases, or moves to the front.
func picking(s *program.Step) func(model.Item) bool {
	every, rem := s.Arg("every"), s.Arg("rem")
	return func(i model.Item) bool { return picks(every, rem, i.Key) }
}

func (y *writing) reset() {
	y.m.Reset()
	delete(y.sortedBy, y.at(y.s.Shard))
	y.x.Reset()
	y.gone(y.s.Shard, every)
}

// insert inserts one item. Its links are of live items: nothing makes a
// provisional handle real here.
func (y *writing) insert() {
	links := y.targets(y.s.Refs, place{step: y.step})
	for i := range links {
		if links[i].id>>63 == 1 {
			links[i] = target{}
		}
	}
	item := y.kept(y.s.Table, value(y.made(y.s, 0), links)).Item
	id, err := y.t.insert(y.w, item)
	want, fits := y.exact.Insert(y.s.Table, item)
	y.inserted([]uint64{id}, err, []uint64{want}, fits, []model.Item{item})
}

// insertMany inserts items in one call. With panic=k the callback panics at the
// k-th, and then nothing is inserted.
func (y *writing) insertMany() {
	items := make([]model.Item, y.s.N)
	for i := range items {
		items[i] = y.made(y.s, i)
	}
	var ids, foreseen []uint64
	var err error
	fill := func(i int, id uint64) model.Item {
		foreseen = append(foreseen, id)
		if y.s.Arg("panic") == i+1 {
			panic(errTask)
		}
		return items[i]
	}
	if y.throws(func() {
		switch y.s.Op {
		case program.InsertItems:
			ids, err = y.m.insertItems(items)
		case program.EmplaceItemsNow:
			ids, err = y.m.emplaceItems(len(items), fill)
		default:
			var id uint64
			id, err = y.m.insertFunc(func(id uint64) model.Item { return fill(0, id) })
			ids = []uint64{id}
		}
	}) {
		return
	}
	want := y.x.InsertItems(items)
	y.inserted(ids, err, want, want != nil, items)
	if len(foreseen) > 0 && !slices.Equal(foreseen, want) {
		y.fail(Model, "the callbacks are given %s; want %s", list(foreseen), list(want))
	}
}

// inserted compares what an insert of any kind gave.
func (y *writing) inserted(ids []uint64, err error, want []uint64, fits bool, items []model.Item) {
	if !fits {
		y.expect(err, store.ErrFull, "an insert beyond a limit")
		return
	}
	if err != nil || len(ids) != len(want) {
		y.fail(Limit, "inserting %d items gives %d handles, %v; want all", len(items), len(ids), err)
		return
	}
	for i, id := range ids {
		if id != want[i] {
			y.fail(Model, "item %d is issued %s; want %s", i, model.Text(id), model.Text(want[i]))
			return
		}
		if err := y.abstract.Insert(y.s.Table, id, items[i]); err != nil {
			y.fail(Model, "%v", err)
		}
		y.bind(y.s.Name+i, id)
	}
}

// eachSingle does something to one item after another: by the map of the shard that
// its handle names, or by the first.
func (y *writing) eachSingle() {
	maps := y.t.maps(y.w)
	for _, id := range y.ids() {
		m, own := maps[0], y.owns(y.s.Table, id)
		if own {
			m = maps[int(id>>48&0x7fff)-int(y.modelled[y.s.Table].TypeID)]
		}
		y.single(m, id, own)
	}
}

func (y *writing) single(m boundMap, id uint64, own bool) {
	item, _, lives := y.abstract.Find(id)
	lives = lives && own
	got := lives
	switch y.s.Op {
	case program.EraseNow:
		got = m.erase(id)
	case program.Remove:
		got = y.t.remove(y.w, id)
	case program.TakeNow:
		var taken model.Item
		if taken, got = m.take(id); got && taken != item {
			y.fail(Model, "Take(%s) is %+v; want %+v", model.Text(id), taken, item)
		}
	case program.SetNow:
		m.set(id, uint64(y.s.Arg("v")))
	case program.CallNow:
		got = m.call(id, uint64(y.s.Arg("v")))
	}
	if got != lives {
		y.accepted(id, got)
	}
	switch {
	case erasing(y.s.Op) && y.exact.Erase(y.s.Table, id) != y.abstract.Erase(y.s.Table, id):
		y.fail(Model, "the models differ over erasing %s", model.Text(id))
	case !erasing(y.s.Op) && lives && y.program.Tables[y.s.Table].Item != program.Empty:
		item.Key = uint64(y.s.Arg("v"))
		y.abstract.Set(id, item)
		*y.exact.Item(id) = item
	}
}

func erasing(op program.Op) bool {
	return op == program.EraseNow || op == program.Remove || op == program.TakeNow
}

// owns reports whether a handle has one of the table's typeIds.
func (p *player) owns(table int, id uint64) bool {
	typeID := int(id>>48) & 0x7fff
	first := int(p.modelled[table].TypeID)
	return typeID >= first && typeID < first+p.modelled[table].Shards
}

func (y *writing) eraseMany() {
	ids := y.ids()
	got, want := y.m.eraseItems(ids), y.x.EraseItems(ids)
	n := 0
	for _, id := range ids {
		if uint16(id>>48)&0x7fff == y.x.TypeID && y.abstract.Erase(y.s.Table, id) {
			n++
		}
	}
	y.same("EraseItems", [2]int{got, n}, [2]int{want, want})
}

// eraseFunc erases by a function, which panics at its k-th call with panic=k.
func (y *writing) eraseFunc() {
	f, calls, got := picking(y.s), 0, 0
	if y.throws(func() {
		got = y.m.eraseFunc(func(i model.Item) bool {
			if calls++; calls == y.s.Arg("panic") {
				panic(errTask)
			}
			return f(i)
		})
	}) {
		return
	}
	y.same("EraseFunc", got, y.x.EraseWhere(f))
	y.gone(y.s.Shard, f)
}

// look asks the map of a shard in every way what it holds.
func (y *writing) look() {
	rows := y.x.Handles()
	for _, id := range rows {
		want, _ := y.x.RowOf(id)
		if row, ok := y.m.rowOf(id); !ok || row != want || y.m.handleAt(want) != id {
			y.fail(Model, "%s is in row %d, %v, where %s is; want %d", model.Text(id), row, ok, model.Text(y.m.handleAt(want)), want)
		}
	}
	for _, id := range y.ids() {
		_, want := y.x.RowOf(id)
		if got := y.m.has(id); got != want {
			y.accepted(id, got)
		}
		if _, got := y.m.rowOf(id); got != want {
			y.accepted(id, got)
		}
	}
	if y.o != nil {
		y.lookItems(rows)
	}
	slices.Reverse(rows)
	if got := y.m.backward(); !slices.Equal(got, rows) {
		y.fail(Model, "Backward yields %s; want %s", list(got), list(rows))
	}
	y.same("Stats", y.m.figures(), y.x.Figures())
}

// lookItems compares the items of a packed map with those of its rows.
func (y *writing) lookItems(rows []uint64) {
	items := y.o.items()
	y.same("the length of Items", len(items), len(rows))
	for i := range min(len(items), len(rows)) {
		if want, _, _ := y.abstract.Find(rows[i]); items[i] != want {
			y.fail(Model, "Items has %+v for %s; want %+v", items[i], model.Text(rows[i]), want)
		}
	}
}
