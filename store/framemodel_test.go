package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

// frameModel says what frames come to, with maps of items and nothing else: values by
// handle, and lists that begin anew with the first flush of a frame. Which handle a
// create gets and how the rows lie it asks the store.
type frameModel struct {
	values  map[store.ID]uint64
	pending []frameCommand // of passes, in key order
	sealed  []frameCommand // of calls that the next flush applies behind them
	calls   []frameCommand // that wait in the inbox for a frame

	unsealed, unlisted bool // nothing was flushed in the frame, or nothing with commands
	created            []store.ID
	erased             map[uint16][]change // by typeId
	replaced           map[uint16][]store.ID
	names              map[store.ID]store.ID // of the frame; null: cancelled
	old                []store.ID            // names of frames before
}

// frameCommand is a create, an erase or a put. It is to a create of the same task if it
// is not to a living item.
type frameCommand struct {
	kind   int
	value  uint64
	target store.ID
	create *frameCreate
}

type frameCreate struct {
	name      store.ID
	value     uint64
	cancelled bool
}

const (
	createIt = iota
	eraseTarget
	putTarget
	eraseAll
)

func newFrameModel() *frameModel {
	m := &frameModel{values: map[store.ID]uint64{}}
	m.begin()
	m.forget()
	return m
}

// begin begins a frame.
func (m *frameModel) begin() { m.unsealed, m.unlisted = true, true }

// forget empties the lists and names.
func (m *frameModel) forget() {
	m.old = slices.Collect(maps.Keys(m.names))
	m.created, m.erased, m.replaced = nil, map[uint16][]change{}, map[uint16][]store.ID{}
	m.names = map[store.ID]store.ID{}
}

// seal gives the calls to the first flush of the frame.
func (m *frameModel) seal() {
	if m.unsealed {
		m.unsealed = false
		m.sealed = append(m.sealed, m.calls...)
		m.calls = nil
	}
}

// flush applies the batch to the items, of which before has the order. resolve asks what
// became of a create.
func (m *frameModel) flush(before []change, resolve func(name store.ID) (store.ID, bool)) {
	batch := append(m.pending, m.sealed...)
	m.pending, m.sealed = nil, nil
	if len(batch) == 0 {
		return
	}
	if m.unlisted {
		m.unlisted = false
		m.forget()
	}
	erases, puts := map[store.ID]bool{}, map[store.ID]uint64{}
	for _, c := range batch {
		switch {
		case c.kind == eraseAll:
			for _, item := range before {
				erases[item.id] = true
			}
		case c.kind == eraseTarget && c.create != nil:
			c.create.cancelled = true
		case c.kind == eraseTarget:
			erases[c.target] = true
		case c.kind == putTarget && c.create != nil:
			c.create.value = c.value
		case c.kind == putTarget:
			puts[c.target] = c.value
		}
	}
	for _, item := range before {
		m.change(item, erases, puts)
	}
	for _, c := range batch {
		if c.kind == createIt {
			m.names[c.create.name] = 0
			if id, ok := resolve(c.create.name); ok {
				m.names[c.create.name] = id
				m.created = append(m.created, id)
				m.values[id] = c.create.value
			}
		}
	}
}

// change applies what a batch does to an item.
func (m *frameModel) change(item change, erases map[store.ID]bool, puts map[store.ID]uint64) {
	id, shard := item.id, item.id.TypeID()
	value, put := puts[id]
	isNew := slices.Contains(m.created, id)
	switch {
	case erases[id]:
		delete(m.values, id)
		if !isNew {
			m.erased[shard] = append(m.erased[shard], item)
		}
	case put:
		m.values[id] = value
		if !isNew && !slices.Contains(m.replaced[shard], id) {
			m.replaced[shard] = append(m.replaced[shard], id)
		}
	}
}

// lists are what the store must list.
func (m *frameModel) lists(shards []uint16) (want changes) {
	living := func(ids []store.ID) (list []change) {
		for _, id := range ids {
			if value, ok := m.values[id]; ok {
				list = append(list, change{id, item{Value: value}})
			}
		}
		return list
	}
	want.created = living(m.created)
	for _, shard := range shards {
		want.erased = append(want.erased, m.erased[shard]...)
		want.replaced = append(want.replaced, living(m.replaced[shard])...)
	}
	return want
}

// framePlayer plays a program in a store and in the model.
type framePlayer struct {
	tb
	*store.Store
	table  itemTable
	shards []uint16
	model  *frameModel
	codes  []uint64 // what is left of the program
	notes  []string // what came out, step by step
}

// next returns a number below n, 0 when the program is at its end.
func (y *framePlayer) next(n int) int {
	if len(y.codes) == 0 {
		return 0
	}
	code := y.codes[0]
	y.codes = y.codes[1:]
	return int(code % uint64(n))
}

// commands returns those of one task.
func (y *framePlayer) commands() (all []frameCommand) {
	live := listed(y.table.All())
	var own []*frameCreate
	for range y.next(7) {
		c := frameCommand{kind: max(0, y.next(4)-1), value: uint64(y.next(1000))}
		switch {
		case c.kind == createIt:
			c.create = &frameCreate{value: c.value}
			own = append(own, c.create)
		case y.next(12) == 0:
			c.kind = eraseAll
		case len(live)+len(own) == 0:
			continue
		default:
			if at := y.next(len(live) + len(own)); at < len(live) {
				c.target = live[at].id
			} else {
				c.create = own[at-len(live)]
			}
		}
		all = append(all, c)
	}
	return all
}

func (y *framePlayer) record(all []frameCommand, q store.Queue) {
	for _, c := range all {
		target := handleOf(c.target)
		if c.kind != createIt && c.create != nil {
			target = handleOf(c.create.name)
		}
		switch c.kind {
		case createIt:
			c.create.name = y.table.Emplace(q, item{Value: c.create.value}).ID
		case eraseTarget:
			y.table.Erase(q, target)
		case putTarget:
			y.table.Put(q, target, item{Value: c.value})
		case eraseAll:
			y.table.EraseAll(q)
		}
	}
}

// pass records in three tasks.
func (y *framePlayer) pass(ctx context.Context) {
	tasks := [][]frameCommand{y.commands(), y.commands(), y.commands()}
	err := y.Each(ctx, len(tasks), func(_ context.Context, task int, q store.Queue) error {
		y.record(tasks[task], q)
		return nil
	})
	if err != nil {
		y.Fatal(err)
	}
	y.model.pending = slices.Concat(y.model.pending, slices.Concat(tasks...))
}

// flush flushes, or fails to, and compares.
func (y *framePlayer) flush(ctx context.Context, fails bool) {
	before := listed(y.table.All())
	if fails {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := y.Flush(ended); err != nil && !errors.Is(err, context.Canceled) {
			y.Fatal(err)
		}
		y.model.seal()
	} else {
		if _, err := y.Flush(ctx); err != nil {
			y.Fatal(err)
		}
		y.model.seal()
		y.model.flush(before, func(name store.ID) (store.ID, bool) { return y.Resolve(name) })
	}
	y.compare(ctx)
}

func (y *framePlayer) compare(ctx context.Context) {
	y.Helper()
	got := map[store.ID]uint64{}
	for h, v := range y.table.All() {
		got[h.ID] = v.Value
	}
	if !maps.Equal(got, y.model.values) {
		y.Fatalf("the items are %v, want %v", got, y.model.values)
	}
	want, lists := y.model.lists(y.shards), changesOf(y.table)
	if !lists.equal(want) {
		y.Fatalf("the lists are\n%v, want\n%v", lists, want)
	}
	for name, id := range y.model.names {
		if h, ok := y.table.Resolve(handleOf(name)); ok != !id.IsZero() || h.ID != id {
			y.Fatalf("%v of the frame resolves to %v, %t, want %v", name, h, ok, id)
		}
	}
	for _, name := range y.model.old {
		if id, ok := y.Resolve(name); ok {
			y.Fatalf("%v of a frame before resolves to %v", name, id)
		}
	}
	digest, err := y.Digest(ctx)
	if err != nil {
		y.Fatal(err)
	}
	y.notes = append(y.notes, fmt.Sprintf("%x %v", digest, lists))
}

// frame plays a frame, or a few of them in one Write.
func (y *framePlayer) frame(ctx context.Context) {
	y.model.begin()
	if y.next(3) == 0 {
		y.pass(ctx)
		y.flush(ctx, y.next(4) == 0)
		return
	}
	var before store.Checkpoint
	if err := y.Checkpoint(ctx, &before); err != nil {
		y.Fatal(err)
	}
	saved := maps.Clone(y.model.values)
	err := y.Write(ctx, func(ctx context.Context, w *store.Writer) error {
		for range 2 + y.next(8) {
			y.step(ctx, w, &before, saved)
			y.compare(ctx)
		}
		return nil
	})
	if err != nil {
		y.Fatal(err)
	}
}

// step does one thing inside a Write.
func (y *framePlayer) step(ctx context.Context, w *store.Writer, before *store.Checkpoint, saved map[store.ID]uint64) {
	m := y.model
	switch y.next(16) {
	case 0:
		y.pass(ctx)
		y.flush(ctx, true)
	case 1, 2:
		h, err := y.table.Insert(w, item{Value: uint64(y.next(1000))})
		if err != nil {
			y.Fatal(err)
		}
		m.values[h.ID] = y.table.At(h).Value
	case 3, 4:
		if live := listed(y.table.All()); len(live) > 0 {
			id := live[y.next(len(live))].id
			y.table.Remove(w, handleOf(id))
			delete(m.values, id)
		}
	case 5:
		if y.next(4) == 0 {
			y.table.Clear(w)
			clear(m.values)
		}
	case 6:
		w.EndFrame()
		m.begin()
	case 7:
		if err := y.Rollback(ctx, before); err != nil {
			y.Fatal(err)
		}
		m.values, m.pending, m.sealed, m.calls = maps.Clone(saved), nil, nil, nil
		m.forget()
	case 8, 9:
		all := y.commands()
		send(y, y.Store, func(q store.Queue) { y.record(all, q) })
		m.calls = append(m.calls, all...)
	default:
		y.pass(ctx)
		y.flush(ctx, false)
	}
}

// The lists and names of frames are those of the model, and the same for any number of
// workers.
func TestFramesOfRandomProgramsAreThoseOfTheModel(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		rapid.Check(t, func(t *rapid.T) {
			codes := rapid.SliceOfN(rapid.Uint64Range(0, 1<<20), 150, 400).Draw(t, "codes")
			var first []string
			for _, workers := range []int{1, 2, 8} {
				y := &framePlayer{tb: t, Store: newStore(t, store.Options{Workers: workers}), model: newFrameModel(), codes: codes}
				shards := 1 + y.next(3)
				y.table = registerKind(t, y.Store, store.TableOptions[item]{Shards: shards, ChunkItems: 4, Changes: true}, stable)
				for i := range shards {
					y.shards = append(y.shards, uint16(1+i))
				}
				for len(y.codes) > 0 {
					y.frame(context.Background())
				}
				if first == nil {
					first = y.notes
				}
				if !slices.Equal(y.notes, first) {
					t.Fatalf("with %d workers it comes to\n%v, with one to\n%v", workers, y.notes, first)
				}
			}
		})
	})
}
