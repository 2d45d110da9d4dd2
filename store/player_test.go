package store_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"handloom/store"
)

// player runs the frames of a program in a store and compares it with the model
// after each.
type player struct {
	*trial
	model     *modelStore
	tables    []anyTable[thing]
	names     [][]store.ID        // by frame and number of the create
	addresses map[store.ID]*thing // of items of stable tables

	fault atomic.Bool // Links panics
	known []*create
	late  struct { // the call that arrived after the last flush
		passes  []modelPass
		creates []*create
	}
}

// thing is what the tables of programs hold: handles in fields, in an array and
// behind a slice.
type thing struct {
	Value  uint64
	Parent store.Handle[thing]
	Links  [2]store.ID
	Far    []store.ID
}

func thingOf(id store.ID) store.Handle[thing] { return store.Handle[thing]{ID: id} }

// visit is the Links function of the tables. It says more than it has to.
func (y *player) visit(v *thing, visit func(*store.ID)) {
	if y.fault.Load() {
		panic(errTask)
	}
	for i := range v.Far {
		visit(&v.Far[i])
	}
	visit(&v.Parent.ID)
}

var errTask = errors.New("the task fails")

// play is one run of a program: the model and the store take turns.
func (p program) play(r *trial) {
	r.Helper()
	o := slices.Clone(p.tables)
	for i := range o {
		o[i].Name = tableName(i)
	}
	y := &player{trial: r, model: newModel(o), addresses: map[store.ID]*thing{}}
	for i := range o {
		o[i].Links = y.visit
		y.tables = append(y.tables, registerKind(r, r.Store, o[i].TableOptions, o[i].stable))
	}
	for _, drawn := range append(p.frames, drawnFrame{clear: len(p.tables)}) { // the last one for a call that came late
		if len(drawn.around[0]) == 0 {
			y.frame(drawn)
		} else {
			y.callAround(drawn)
		}
	}
}

// callAround plays a frame while a call of the inbox records, which arrives
// after the frame's flush.
func (y *player) callAround(drawn drawnFrame) {
	y.Helper()
	s := y.model.spelling(len(y.names), y.known)
	y.names = append(y.names, make([]store.ID, 8*5*16)) // as many creates as it may have
	var commands []command
	record := func(codes []uint64, q store.Queue) {
		spelled := s.commands(codes, 0)
		for _, c := range spelled {
			y.record(c, q)
		}
		commands = append(commands, spelled...)
	}
	err := y.Inbox(func(q store.Queue) error {
		record(drawn.around[0], q)
		y.known = append(y.known, s.own...)
		y.frame(drawn)
		s.known = y.known
		record(drawn.around[1], q)
		return nil
	})
	if err != nil {
		y.Fatal(err)
	}
	y.known = append(y.known, s.own...)
	y.late.passes = []modelPass{{tasks: [][]command{commands}, call: true}}
	y.late.creates = s.out.creates
}

func (y *player) frame(drawn drawnFrame) {
	y.Helper()
	f := y.model.spell(len(y.names), drawn, y.known)
	names := make([]store.ID, len(f.creates))
	y.names = append(y.names, names)
	y.known = append(y.known, f.creates...)
	y.write(f)
	passes, creates := y.late.passes, append(y.late.creates, f.creates...)
	y.late.passes, y.late.creates = nil, nil
	for _, p := range f.passes {
		y.pass(p)
		passes = append(passes, p.modelPass)
	}
	if f.cancel {
		y.cancelledFlush(passes)
	}
	report, failed, err := y.flushTwice(f.fault)
	epoch := y.model.epoch
	want, ok := y.model.flush(passes)
	switch {
	case ok != (err == nil) || !ok && !errors.Is(err, store.ErrFull):
		y.Fatalf("Flush: %v; the model says ok is %t", err, ok)
	case ok:
		if failed != (f.fault && want.stay > 0) {
			y.Fatalf("a Links that panics: %t, in a flush that leaves %d values: failed: %t", f.fault, want.stay, failed)
		}
		y.note(report, names)
		y.compareReport(report, want)
		y.compareNames(creates)
		if y.model.epoch != epoch {
			y.compareChanges()
		}
	default:
		if err := y.Discard(); err != nil {
			y.Fatal(err)
		}
		for _, c := range creates {
			c.real = 0
		}
	}
	y.compareTables()
}

// flushTwice flushes and, when that failed because Links panicked, once more.
func (y *player) flushTwice(fault bool) (report *store.Report, failed bool, err error) {
	y.Helper()
	if !fault {
		report, err = y.Flush(y.ctx)
		return report, false, err
	}
	before := digest(y, y.Store)
	y.fault.Store(true)
	report, err = y.Flush(y.ctx)
	y.fault.Store(false)
	var p *store.PanicError
	if !errors.As(err, &p) {
		return report, false, err
	}
	if after := digest(y, y.Store); after != before {
		y.Fatalf("a flush whose Links panics leaves digest %x, not %x", after, before)
	}
	report, err = y.Flush(y.ctx)
	return report, true, err
}

// compareChanges compares the lists of what the last flush did.
func (y *player) compareChanges() {
	y.Helper()
	for i, t := range y.model.tables {
		if !t.options.Changes {
			continue
		}
		got := modelChanges{listedThings(store.Created(y.tables[i])), listedThings(store.Erased(y.tables[i])), listedThings(store.Replaced(y.tables[i]))}
		want := y.model.changes[t]
		if !slices.Equal(got.created, want.created) || !slices.Equal(got.erased, want.erased) || !slices.Equal(got.replaced, want.replaced) {
			y.Fatalf("%s has changes\n\t%v, the model\n\t%v", tableName(i), got, *want)
		}
	}
}

func listedThings(seq seqOf[thing]) (list []modelChange) {
	for h, v := range seq {
		list = append(list, modelChange{h.ID, v.model()})
	}
	return list
}

func (v *thing) model() modelItem {
	m := modelItem{value: v.Value, links: [3]store.ID{v.Parent.ID, v.Links[0], v.Links[1]}}
	copy(m.far[:], v.Far)
	return m
}

// cancelledFlush must change nothing if there is anything to change.
func (y *player) cancelledFlush(passes []modelPass) {
	y.Helper()
	ctx, cancel := context.WithCancel(y.ctx)
	before := digest(y, y.Store)
	// Err and not Done, so that the flush gets as far as it can.
	if _, err := y.Flush(ended{ctx}); anything(passes) != errors.Is(err, context.Canceled) {
		y.Fatalf("Flush with an ended context: %v", err)
	}
	cancel()
	if digest(y, y.Store) != before {
		y.Fatal("a cancelled flush changed the state")
	}
}

// ended is a context that looks open to whoever waits for its end, and ended to
// whoever asks.
type ended struct{ context.Context }

func (ended) Done() <-chan struct{} { return nil }
func (ended) Err() error            { return context.Canceled }
func (e ended) Value(key any) any   { return e.Context.Value(key) }

func (y *player) write(f frame) {
	y.Helper()
	err := y.Write(y.ctx, func(_ context.Context, w *store.Writer) error {
		for _, i := range f.inserts {
			h, err := y.tables[i.table].Insert(w, thing{Value: uint64(len(y.names) - 1)})
			if h.ID != i.id || (err == nil) != i.ok {
				y.Fatalf("Insert gave %v, %v; the model %v, %t", h, err, i.id, i.ok)
			}
		}
		if f.clear < len(y.tables) {
			y.tables[f.clear].Clear(w)
		}
		return nil
	})
	if err != nil {
		y.Fatal(err)
	}
}

func (y *player) pass(p pass) {
	y.Helper()
	var err error
	switch p.kind {
	case forEachPass:
		err = y.tables[p.table].visit(y.ctx, func(task int, q store.Queue, items seqOf[thing]) error {
			for _, v := range items {
				v.Value += p.delta
			}
			return y.task(p, task, q)
		})
	case eachPass:
		err = y.Each(y.ctx, len(p.tasks), func(_ context.Context, task int, q store.Queue) error {
			return y.task(p, task, q)
		})
	case queuesPass:
		for task, q := range slices.Backward(queues(y, y.Store, len(p.tasks))) {
			_ = y.task(pass{modelPass: p.modelPass, fail: -1}, task, q)
		}
	case inboxCall:
		err = y.Inbox(func(q store.Queue) error { return y.task(p, 0, q) })
	}
	if p.failed != errors.Is(err, errTask) {
		y.Fatalf("the pass returned %v", err)
	}
}

func (y *player) task(p pass, task int, q store.Queue) error {
	for _, c := range p.tasks[task] {
		y.record(c, q)
	}
	if task == p.fail {
		return errTask
	}
	return nil
}

func (y *player) record(c command, q store.Queue) {
	t := y.table(c.table)
	switch c.do {
	case doCreate:
		y.name(c.creates[0], t.Emplace(q, y.thing(c.creates[0].value)))
	case doCreateMany:
		var values []thing
		for _, made := range c.creates {
			// Names of the same call are not known yet when its values are made.
			values = append(values, y.thing(made.value))
		}
		for i, h := range t.EmplaceItems(q, values, nil) {
			y.name(c.creates[i], h)
		}
		for _, made := range c.creates {
			y.complete(made, made.value, q)
		}
	case doCreateFunc:
		store.EmplaceFunc(t, q, func(h store.Handle[thing], v *thing) {
			y.name(c.creates[0], h)
			*v = y.thing(c.creates[0].value)
		})
	case doStaged:
		if c.staged != nil {
			y.complete(c.staged, c.value, q)
		}
	case doErase:
		t.Erase(q, thingOf(y.id(c.targets[0])))
	case doEraseMany:
		var hs []store.Handle[thing]
		for _, r := range c.targets {
			hs = append(hs, thingOf(y.id(r)))
		}
		t.EraseItems(q, hs)
	case doEraseUntyped:
		q.Erase(y.id(c.targets[0]))
	case doPut:
		t.Put(q, thingOf(y.id(c.targets[0])), y.thing(c.value))
	}
}

// complete overwrites what the queue holds under the name of a create.
func (y *player) complete(c *create, value staged, q store.Queue) {
	name := thingOf(y.id(ref{create: c}))
	if v, ok := y.table(c.table).Staged(q, name); ok {
		*v = y.thing(value)
	} else {
		y.Errorf("%v is not staged", name)
	}
}

func (y *player) table(t *modelTable) anyTable[thing] {
	return y.tables[slices.Index(y.model.tables, t)]
}

func (y *player) name(c *create, h store.Handle[thing]) { y.names[c.frame][c.number] = h.ID }

func (y *player) id(r ref) store.ID {
	if r.create != nil {
		return y.names[r.create.frame][r.create.number]
	}
	return r.id
}

func (y *player) thing(v staged) thing {
	made := thing{
		Value:  v.value,
		Parent: thingOf(y.id(v.links[0])),
		Links:  [2]store.ID{y.id(v.links[1]), y.id(v.links[2])},
	}
	if v.far != nil {
		if v.far.made == nil {
			v.far.made = make([]store.ID, len(v.far.links))
		}
		for i, r := range v.far.links {
			v.far.made[i] = y.id(r)
		}
		made.Far = v.far.made
	}
	return made
}

func handleOf(id store.ID) store.Handle[item] { return store.Handle[item]{ID: id} }

// compareTables compares every item, its handle and its place, and the slots.
func (y *player) compareTables() {
	y.Helper()
	stats := y.Stats()
	for i, t := range y.model.tables {
		var handles, wantHandles []store.ID
		var items, wantItems []modelItem
		for h, v := range y.tables[i].All() {
			y.checkLookup(i, h, v)
			handles = append(handles, h.ID)
			items = append(items, v.model())
		}
		vacant, depleted := 0, 0
		for _, shard := range t.shards {
			for _, id := range shard.live {
				wantHandles = append(wantHandles, id)
				wantItems = append(wantItems, shard.items[id])
			}
			vacant += len(shard.free)
			depleted += shard.depleted()
		}
		if !slices.Equal(handles, wantHandles) || !slices.Equal(items, wantItems) {
			y.Fatalf("%s holds\n\t%v\n\t%v\nthe model\n\t%v\n\t%v", tableName(i), handles, items, wantHandles, wantItems)
		}
		if s := stats.Tables[i]; s.Live != len(handles) || s.Vacant != vacant || s.Depleted != depleted {
			y.Fatalf("%s: %+v; the model has %d vacant and %d depleted slots", tableName(i), s, vacant, depleted)
		}
		if n := y.tables[i].Len(); n != len(wantHandles) {
			y.Fatalf("%s says it holds %d items; the model has %d", tableName(i), n, len(wantHandles))
		}
	}
	for _, id := range y.model.dead {
		if y.Has(id) {
			y.Fatalf("%v was erased and resolves", id)
		}
	}
}

// checkLookup looks up what an iteration gave; in a stable table it must lie
// where it always did.
func (y *player) checkLookup(table int, h store.Handle[thing], v *thing) {
	y.Helper()
	if got, ok := y.tables[table].Get(h); !ok || got != v || !y.tables[table].Has(h) || !y.Has(h.ID) {
		y.Fatalf("%s: Get(%v) is %p, %t; the iteration gave %p", tableName(table), h, got, ok, v)
	}
	if !y.model.tables[table].options.stable {
		return
	}
	if before, ok := y.addresses[h.ID]; ok && before != v {
		y.Fatalf("%s: %v was at %p and is at %p", tableName(table), h, before, v)
	}
	y.addresses[h.ID] = v
}

func (y *player) compareNames(creates []*create) {
	y.Helper()
	for _, c := range creates {
		p := y.id(ref{create: c})
		h, ok := y.table(c.table).Resolve(thingOf(p))
		id, okID := y.Resolve(p)
		if h.ID != c.real || id != c.real || ok != (c.real != 0) || okID != ok || y.Has(p) {
			y.Fatalf("%v resolves to %v, %t and %v, %t; the model says %v", p, h, ok, id, okID, c.real)
		}
	}
}

func (y *player) compareReport(got *store.Report, want modelReport) {
	y.Helper()
	if got.Total != want.total || got.Epoch != y.model.epoch {
		y.Fatalf("the report says epoch %d,\n\t%+v, the model epoch %d,\n\t%+v", got.Epoch, got.Total, y.model.epoch, want.total)
	}
	at := 0
	for i, t := range y.model.tables {
		counts := want.tables[t]
		if counts == nil {
			continue
		}
		if at >= len(got.Tables) || got.Tables[at] != (store.TableReport{Name: tableName(i), Counts: *counts}) {
			y.Fatalf("the report says of %s\n\t%+v, the model\n\t%+v", tableName(i), got.Tables[at:], *counts)
		}
		at++
	}
	if at != len(got.Tables) {
		y.Fatalf("the report names tables without commands: %+v", got.Tables)
	}
	if a, b := unnamed(got.Stale), unnamed(want.stale); !slices.Equal(a, b) {
		y.Fatalf("stale are\n\t%+v, in the model\n\t%+v", a, b)
	}
}

// unnamed takes the names out of provisional handles, whose bits mean nothing.
func unnamed(samples []store.Sample) []store.Sample {
	samples = slices.Clone(samples)
	for i := range samples {
		if h := &samples[i].Handle; *h == 0 || h.IsProvisional() {
			*h = 0
		}
	}
	return samples
}
