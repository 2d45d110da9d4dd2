package suite

import (
	"context"
	"math/rand/v2"

	"handloom/bench/internal/measure"
	"handloom/handle"
	"handloom/shard/handlemap"
	"handloom/store"
	"handloom/tasks"
)

const queues = 8

// flushes returns the cases of a flush of n commands over 8 shards with n
// items: half erase items in random order, half create items. For comparison,
// the bulk calls run by hand on one map per shard.
func (s full[T]) flushes() []measure.Case {
	on := s.fullTable()
	cases := s.scaling("flush", "table", func(workers int) *measure.Work { return s.flush(on, workers) })
	return append(cases, onOneWorker(s.newCase("flush", "handlemap", s.flushByHand)))
}

// indexFlushes returns the cases of a flush that erases and creates half of n items with keys of their own: on a
// table with an index, on one without, and on one with a single shard.
func indexFlushes(of set[item8]) (cases []measure.Case) {
	s := full[item8]{of}
	key := func(t *store.Table[item8]) {
		store.AddIndex(t, "key", func(i *item8) (uint64, bool) { return i.v, true })
	}
	for _, variant := range []struct {
		impl   string
		shards int
		parts  func(t *store.Table[item8])
	}{{"table.index", shards, key}, {"table", shards, nil}, {"table.1shard", 1, nil}} {
		on := &common[fullTable[item8]]{make: func() fullTable[item8] { return newFullTable(s.n, variant.shards, variant.parts) }}
		cases = append(cases, s.scaling("indexflush", variant.impl, func(workers int) *measure.Work { return s.flush(on, workers) })...)
	}
	return cases
}

func (s full[T]) flush(on *common[fullTable[T]], workers int) *measure.Work {
	b := on.open()
	st, t := b.store, b.table
	live := make([]store.Handle[T], 0, s.n)
	created := make([]T, s.n/2)
	r := s.random()
	var ctx context.Context
	var f flushing
	return &measure.Work{
		Items:  len(created) * 2,
		Within: within(workers, &ctx), Close: on.close,
		Prepare: func() {
			live = drawLive(r, t, live, len(created))
			for i := range created {
				created[i] = itemOf[T](*b.next)
				*b.next++
			}
			check(st.Each(ctx, queues, func(task int, q store.Queue) {
				t.EraseItems(q, part(live[:len(created)], task))
				for _, v := range part(created, task) {
					t.Emplace(q, v)
				}
			}))
		},
		Body:  func() { f.flush(ctx, st) },
		Count: f.count,
	}
}

type flushing struct{ commands int }

func (f *flushing) flush(ctx context.Context, st *store.Store) {
	c := must(st.Flush(ctx)).Total
	f.commands += c.Created + c.Erased + c.Unset + c.Put + c.Superseded + c.Dropped + c.Redundant + c.CancelledOut // but stale ones
}

func (f *flushing) count() int { return f.commands }

func (s full[T]) flushByHand() *measure.Work {
	r := s.random()
	created := values[T](s.n / 2)
	var (
		maps   [shards]*handlemap.Map[T]
		live   = make([]store.Handle[T], 0, s.n)
		erased [shards][]store.Handle[T]
		names  []store.Handle[T]
	)
	for i := range maps {
		maps[i] = must(handlemap.New[T](handle.Options{TypeID: i + 1, Reserve: s.n / shards}))
		must(maps[i].InsertItems(part(values[T](s.n), i), nil))
	}
	done := 0
	return &measure.Work{
		Items: len(created) * 2,
		Prepare: func() {
			live = live[:0]
			for i, m := range maps {
				erased[i] = erased[i][:0]
				for h := range m.All() {
					live = append(live, h)
				}
			}
			drawFirst(r, live, len(created))
			for _, h := range live[:len(created)] {
				table := h.ID.TypeID() - 1
				erased[table] = append(erased[table], h)
			}
		},
		Body: func() {
			rest := created
			for i, m := range maps {
				n := m.EraseItems(erased[i])
				names = must(m.InsertItems(rest[:n], names[:0]))
				rest = rest[n:]
				done += n + len(names)
			}
		},
		Count: func() int { return done },
	}
}

func drawFirst[E any](r *rand.Rand, all []E, n int) {
	for i := range n {
		j := i + r.IntN(len(all)-i)
		all[i], all[j] = all[j], all[i]
	}
}

func drawLive[T any](r *rand.Rand, t *store.Table[T], live []store.Handle[T], n int) []store.Handle[T] {
	live = live[:0]
	for h := range t.All() {
		live = append(live, h)
	}
	drawFirst(r, live, n)
	return live
}

// part returns the share of a task.
func part[E any](all []E, task int) []E {
	return all[len(all)*task/queues : len(all)*(task+1)/queues]
}

func within(workers int, ctx *context.Context) func(sample func()) {
	return func(sample func()) {
		check(tasks.WithTeam(context.Background(), workers, func(team context.Context) error {
			*ctx = team
			sample()
			return nil
		}))
	}
}

type fullTable[T item] struct {
	store *store.Store
	table *store.Table[T]
	next  *uint64 // value of the next item, so that no key comes twice
}

func (f fullTable[T]) both() (*store.Store, *store.Table[T]) { return f.store, f.table }

func newFullTable[T item](n, shards int, parts func(t *store.Table[T])) fullTable[T] {
	st := newStore(0)
	t := store.Register(st, store.TableOptions[T]{Shards: shards, Reserve: n})
	if parts != nil {
		parts(t)
	}
	emplace(st, t, values[T](n))
	next := uint64(n)
	return fullTable[T]{st, t, &next}
}

func (s set[T]) fullTable() *common[fullTable[T]] {
	return &common[fullTable[T]]{make: func() fullTable[T] { return newFullTable[T](s.n, shards, nil) }}
}
