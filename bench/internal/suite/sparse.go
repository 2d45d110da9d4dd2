package suite

import (
	"context"

	"handloom/bench/internal/measure"
	"handloom/handle"
	"handloom/shard/handlemap"
	"handloom/store"
)

// puts returns the cases of a flush that replaces a tenth of n items in random order. For
// comparison, lookups by hand in one map per shard.
func (s full[T]) puts() []measure.Case {
	table := onOneWorker(s.newCase("putflush", "table", s.putFlush))
	return []measure.Case{table, onOneWorker(s.newCase("putflush", "handlemap", s.putsByHand))}
}

func (s full[T]) putFlush() *measure.Work {
	b := newFullTable[T](s.n)
	var live []store.Handle[T]
	r, tenth := s.random(), s.n/10
	var ctx context.Context
	var f flushing
	return &measure.Work{
		Items: tenth, Within: within(1, &ctx),
		Prepare: func() {
			live = drawLive(r, b.table, live, tenth)
			check(b.store.Each(ctx, queues, func(task int, q store.Queue) {
				for i, h := range part(live[:tenth], task) {
					b.table.Put(q, h, itemOf[T](uint64(i)))
				}
			}))
		},
		Body:  func() { f.flush(ctx, b.store) },
		Count: f.count,
	}
}

func (s full[T]) putsByHand() *measure.Work {
	var maps [shards]*handlemap.Map[T]
	var live []handle.Of[T]
	for i := range maps {
		maps[i] = must(handlemap.New[T](handle.Options{TypeID: i + 1, Reserve: s.n / shards}))
		live = append(live, must(maps[i].InsertItems(part(values[T](s.n), i), nil))...)
	}
	r, done, tenth := s.random(), 0, s.n/10
	return &measure.Work{
		Items:   tenth,
		Prepare: func() { drawFirst(r, live, tenth) },
		Body: func() {
			for i, h := range live[:tenth] {
				if v, ok := maps[h.ID.TypeID()-1].Get(h); ok {
					*v = itemOf[T](uint64(i))
					done++
				}
			}
		},
		Count: func() int { return done },
	}
}

// sparseData returns the cases of data that few of n items have. In a sparseflush as many
// items get it as lose it, a tenth of n together. In a sparseframe one item in a hundred gets
// it and loses it ten frames later. For comparison, a sparse set by hand.
func sparseData(s set[item64]) []measure.Case {
	return []measure.Case{
		onOneWorker(s.newCase("sparseflush", "table", func() *measure.Work { return sparseFlush(s) })),
		onOneWorker(s.newCase("sparseflush", "sparseset", func() *measure.Work { return sparseByHand(s) })),
		perOp([]measure.Case{onOneWorker(s.newCase("sparseframe", "table", func() *measure.Work { return sparseFrame(s) }))})[0],
		perOp([]measure.Case{onOneWorker(s.newCase("sparseframe", "sparseset", func() *measure.Work { return sparseFrameByHand(s) }))})[0],
	}
}

// effect is the sparse data: frames left, and a strength.
type effect struct{ left, strength uint64 }

func sparseTable(s set[item64]) (fullTable[item64], *store.Sparse[item64, effect], []store.Handle[item64]) {
	b := newFullTable[item64](s.n)
	effects := store.AddSparse(b.table, store.ColumnOptions[effect]{Name: "effect"})
	return b, effects, drawLive(s.random(), b.table, nil, s.n)
}

func sparseFlush(s set[item64]) *measure.Work {
	b, effects, live := sparseTable(s)
	r, ctx, few := s.random(), context.Background(), s.n/20
	check(b.store.Do(ctx, func(q store.Queue) {
		for _, h := range live[:few] {
			effects.Set(q, h, effect{1, 1})
		}
	}))
	must(b.store.Flush(ctx))
	var f flushing
	return &measure.Work{
		Items: 2 * few, Within: within(1, &ctx),
		Prepare: func() { // the first few items have the data
			drawFirst(r, live[few:], few)
			check(b.store.Each(ctx, queues, func(task int, q store.Queue) {
				for i, h := range part(live[few:2*few], task) {
					effects.Set(q, h, effect{1, uint64(i)})
				}
				for _, h := range part(live[:few], task) {
					effects.Unset(q, h)
				}
			}))
			swap(live, few)
		},
		Body:  func() { f.flush(ctx, b.store) },
		Count: f.count,
	}
}

func swap[E any](all []E, n int) {
	for i := range n {
		all[i], all[n+i] = all[n+i], all[i]
	}
}

func sparseByHand(s set[item64]) *measure.Work {
	e := newSparseSet(s.n)
	names := values[item8](s.n)
	few, r, done := s.n/20, s.random(), 0
	drawFirst(r, names, few)
	for _, h := range names[:few] {
		e.set(h.v, effect{1, 1})
	}
	return &measure.Work{
		Items: 2 * few,
		Prepare: func() {
			drawFirst(r, names[few:], few)
			swap(names, few)
		},
		Body: func() {
			for i, h := range names[:few] {
				e.set(h.v, effect{1, uint64(i)})
			}
			for _, h := range names[few : 2*few] {
				e.remove(h.v)
				done += 2
			}
		},
		Count: func() int { return done },
	}
}

const effectFrames = 10

func sparseFrame(s set[item64]) *measure.Work {
	b, effects, live := sparseTable(s)
	r, ctx, few := s.random(), context.Background(), s.n/100
	record := func(q store.Queue) {
		for _, h := range live[:few] {
			effects.Set(q, h, effect{effectFrames, 1})
		}
	}
	pass := func(c store.SparseChunk[item64, effect]) {
		for i := range c.Items {
			if c.Items[i].left--; c.Items[i].left == 0 {
				effects.Unset(c.Queue, c.Owners[i])
			}
		}
	}
	frame := func() {
		check(effects.ForEach(ctx, pass))
		check(b.store.Do(ctx, record))
		must(b.store.Flush(ctx))
	}
	draw := func() { drawFirst(r, live, few) }
	for range effectFrames {
		draw()
		frame()
	}
	return &measure.Work{Within: within(1, &ctx), Prepare: draw, Body: frame, Count: effects.Len}
}

func sparseFrameByHand(s set[item64]) *measure.Work {
	e := newSparseSet(s.n)
	names := values[item8](s.n)
	r, few := s.random(), s.n/100
	frame := func() {
		for i := len(e.values) - 1; i >= 0; i-- {
			if e.values[i].left--; e.values[i].left == 0 {
				e.remove(e.owners[i])
			}
		}
		for _, h := range names[:few] {
			e.set(h.v, effect{effectFrames, 1})
		}
	}
	draw := func() { drawFirst(r, names, few) }
	for range effectFrames {
		draw()
		frame()
	}
	return &measure.Work{Prepare: draw, Body: frame, Count: func() int { return len(e.values) }}
}

// sparseSet is a sparse set by hand that compares whole names.
type sparseSet struct {
	rows   []uint32 // by slot
	owners []uint64
	values []effect
}

func newSparseSet(n int) *sparseSet { return &sparseSet{rows: make([]uint32, n)} }

func (e *sparseSet) row(h uint64) (uint32, bool) {
	row := e.rows[uint32(h)]
	return row, row < uint32(len(e.owners)) && e.owners[row] == h
}

func (e *sparseSet) set(h uint64, v effect) {
	if row, ok := e.row(h); ok {
		e.values[row] = v
		return
	}
	e.rows[uint32(h)] = uint32(len(e.owners))
	e.owners, e.values = append(e.owners, h), append(e.values, v)
}

func (e *sparseSet) remove(h uint64) {
	row, ok := e.row(h)
	if !ok {
		return
	}
	last := len(e.owners) - 1
	moved := e.owners[last]
	e.owners[row], e.values[row] = moved, e.values[last]
	e.rows[uint32(moved)] = row
	e.owners, e.values = e.owners[:last], e.values[:last]
}
