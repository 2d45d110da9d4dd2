package suite

import (
	"context"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// puts returns the case of a flush that replaces a tenth of n items in random order.
func (s full[T]) puts() []measure.Case {
	return []measure.Case{onOneWorker(s.newCase("putflush", "table", s.putFlush))}
}

func (s full[T]) putFlush() *measure.Work {
	b := newFullTable[T](s.n, shards, nil)
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

// sparseData returns the cases of data that few of n items have. In a sparseflush as many
// items get it as lose it, a tenth of n together. In a sparseframe one item in a hundred gets
// it and loses it ten frames later.
func sparseData(s set[item64]) []measure.Case {
	return []measure.Case{
		onOneWorker(s.newCase("sparseflush", "table", func() *measure.Work { return sparseFlush(s) })),
		perOp([]measure.Case{onOneWorker(s.newCase("sparseframe", "table", func() *measure.Work { return sparseFrame(s) }))})[0],
	}
}

// effect is the sparse data: frames left, and a strength.
type effect struct{ left, strength uint64 }

func sparseTable(s set[item64]) (fullTable[item64], *store.Sparse[item64, effect], []store.Handle[item64]) {
	b := newFullTable[item64](s.n, shards, nil)
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
