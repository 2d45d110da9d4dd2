package suite

import (
	"context"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// hit is an event; each target has two, in random order.
type hit struct {
	to     store.Handle[item32]
	amount uint64
}

// groups returns the cases of applying 2n hits to n targets: by a GroupBy and a
// pass over the owners, by a Fold, and by a loop in a Write that looks up each target.
func groups(s set[item32]) []measure.Case {
	on := &common[arena]{make: func() arena { return newArena(s) }}
	cases := s.scaling("groupby", "table", func(workers int) *measure.Work {
		a := on.open()
		var ctx context.Context
		return &measure.Work{
			Items: 2 * s.n, Within: within(workers, &ctx), Close: on.close,
			Prepare: func() { must(a.Flush(ctx)) }, // as in a frame; without it each pass gets new queues
			Body:    func() { a.group(ctx) },
			Count:   a.brought,
		}
	})
	for _, c := range s.scaling("fold", "table", func(workers int) *measure.Work {
		a := on.open()
		var ctx context.Context
		return &measure.Work{Items: 2 * s.n, Within: within(workers, &ctx), Close: on.close, Body: func() { a.fold(ctx) }, Count: a.brought}
	}) {
		c.With = "groupby"
		cases = append(cases, c)
	}
	loop := s.newCase("groupby", "table.loop", func() *measure.Work {
		a := on.open()
		ctx := context.Background()
		return &measure.Work{Items: 2 * s.n, Close: on.close, Body: func() { a.loop(ctx) }, Count: a.brought}
	})
	return append(cases, loop, s.measured("groupby.allocs", "table", "allocs/op", func() float64 { return newArena(s).allocations() }))
}

type arena struct {
	*store.Store
	targets *store.Table[item32]
	hits    *store.Table[hit]
	groups  *store.Groups[hit, item32]
}

func newArena(s set[item32]) arena {
	a := arena{Store: newStore(0), groups: new(store.Groups[hit, item32])}
	a.targets = store.Register(a.Store, store.TableOptions[item32]{Reserve: s.n})
	a.hits = store.Register(a.Store, store.TableOptions[hit]{Reserve: 2 * s.n})
	hs := emplace(a.Store, a.targets, values[item32](s.n))
	r := s.random()
	all := make([]hit, 2*s.n)
	for i := range all {
		all[i] = hit{hs[r.IntN(len(hs))], 1}
	}
	emplace(a.Store, a.hits, all)
	return a
}

func (a arena) brought() int {
	var had, has uint64
	for i := range a.targets.Len() {
		had += uint64(i)
	}
	for _, v := range a.targets.All() {
		has += v.v
	}
	return int(has - had)
}

func targetOf(h *hit) store.Handle[item32] { return h.to }

func (a arena) group(ctx context.Context) {
	a.sort(ctx)
	check(a.groups.ForEach(ctx, addMembers))
}

func (a arena) sort(ctx context.Context) {
	check(store.GroupBy(ctx, a.groups, a.hits, a.targets, targetOf))
}

func addMembers(c store.GroupChunk[hit, item32]) {
	for i := range c.Owners.Items {
		m := c.Members(i)
		for k := range m.Len() {
			c.Owners.Items[i].v += m.At(k).amount
		}
	}
}

func (a arena) fold(ctx context.Context) {
	check(store.Fold(ctx, a.hits, a.targets, targetOf, func(v *item32, h *hit) { v.v += h.amount }))
}

func (a arena) loop(ctx context.Context) {
	check(a.Write(ctx, func(*store.Writer) {
		for _, h := range a.hits.All() {
			if v, ok := a.targets.Get(h.to); ok {
				v.v += h.amount
			}
		}
	}))
}

func (a arena) allocations() (n float64) {
	const times = 100
	check(a.Team(context.Background(), func(ctx context.Context) error {
		n = float64(mallocs(times, func() { a.sort(ctx) }) / times) // the runtime allocates less than one
		return nil
	}))
	return n
}
