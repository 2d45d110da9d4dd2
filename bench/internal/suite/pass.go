package suite

import (
	"context"
	"runtime/metrics"

	"handloom/bench/internal/measure"
	"handloom/store"
	"handloom/tasks"
)

// passes returns the cases of a pass with about 5 ns of work per item.
func (s full[T]) passes() []measure.Case {
	on := s.fullTable()
	changed := func(v *T) bool { return *first(v) >= uint64(s.n) }
	cases := s.scaling("foreach", "table", func(workers int) *measure.Work {
		_, t := on.open().both()
		var ctx context.Context
		return &measure.Work{
			Items: s.n, Within: within(workers, &ctx), Close: on.close,
			Body: func() {
				check(t.ForEach(ctx, func(c store.Chunk[T]) {
					simulate(c.Items)
				}))
			},
			Count: func() (n int) {
				for _, v := range t.All() {
					if changed(v) {
						n++
					}
				}
				return n
			},
		}
	})
	return cases
}

// simulate does about 5 ns of work per item. All cases use this copy, because
// the placement of the loop changes its time by a fifth.
//
//go:noinline
func simulate[T item](items []T) {
	for i := range items {
		x := *first(&items[i])
		for range 8 {
			x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
		}
		*first(&items[i]) = x
	}
}

// emptyPasses returns the cases of an empty pass over a small table: the cost
// of a phase, and the goroutines it starts. An untimed flush after some passes
// renumbers them.
func emptyPasses(s set[item8]) []measure.Case {
	const passes = 64
	open := func() *measure.Work {
		st := newStore(2)
		t := store.Register(st, store.TableOptions[item8]{})
		emplace(st, t, values[item8](s.n))
		ctx := context.Background()
		return &measure.Work{
			Items:   passes,
			Prepare: func() { must(st.Flush(ctx)) },
			Body: func() {
				for range passes {
					check(t.ForEach(ctx, func(store.Chunk[item8]) {}))
				}
			},
		}
	}
	return []measure.Case{
		tickCase(s, "emptypass", "table.1shard", func() *measure.Work { return open() }),
		s.measured("emptypass.goroutines", "table.1shard", "goroutines/op", func() float64 {
			const bodies = 1000 / passes
			w, before := open(), goroutinesCreated()
			for range bodies {
				w.Prepare()
				w.Body()
			}
			return float64((goroutinesCreated() - before) / (bodies * passes))
		}),
	}
}

func goroutinesCreated() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// halves returns the cases of a phase of two halves of 20 us: in a warm team of
// two, without a team, and one half alone, the lower bound.
func halves(family) (cases []measure.Case) {
	half := func(int) error {
		keep(spin(halfRounds))
		return nil
	}
	phase := func(ctx context.Context) { check(tasks.Run(ctx, 2, half, tasks.Options{Workers: 2})) }
	add := func(impl string, open func() *measure.Work) {
		cases = append(cases, measure.Case{Op: "halves", Impl: impl, Unit: measure.PerOp, Open: open})
	}
	add("half", func() *measure.Work { return &measure.Work{Body: func() { check(half(0)) }} })
	add("team", func() *measure.Work {
		var ctx context.Context
		return &measure.Work{Body: func() { phase(ctx) }, Within: within(2, &ctx)}
	})
	add("fresh", func() *measure.Work { return &measure.Work{Body: func() { phase(context.Background()) }} })
	return cases
}

const halfRounds = 14_500

func spin(rounds int) uint64 {
	x := uint64(rounds)
	for range rounds {
		x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	}
	return x
}

// keep uses a value, so that it is not optimized away.
//
//go:noinline
func keep(uint64) {}
