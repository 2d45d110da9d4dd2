package suite

import (
	"context"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// optional returns the cases of n items of which every tenth has a word: all items are
// asked for it, those that have it are visited with their item, and it is set and taken off
// in flushes, where a map of Go stands beside.
func optional(s set[item64]) []measure.Case {
	return []measure.Case{
		s.newCase("optionalget", "table", func() *measure.Work {
			o := s.newOptional()
			return &measure.Work{Items: s.n, Body: func() {
				for _, h := range o.hosts {
					if v, ok := o.words.Get(h); ok {
						sink += *v
					}
				}
			}}
		}),
		s.newCase("optionalget", "gomap", func() *measure.Work {
			o := s.newOptional()
			return &measure.Work{Items: s.n, Body: func() {
				for _, h := range o.hosts {
					sink += o.plain[h]
				}
			}}
		}),
		s.newCase("optionalvisit", "table", func() *measure.Work { return s.newOptional().visit(s.n / 10) }),
		s.newCase("optionalset", "table", func() *measure.Work { return s.newOptional().flushes() }),
	}
}

// optionalWords are a table and the words that some of its items have.
type optionalWords[T item] struct {
	store *store.Store
	table *store.Table[T]
	words *store.Sparse[T, uint64]
	hosts []store.Handle[T]
	plain map[store.Handle[T]]uint64
}

func (s set[T]) newOptional() *optionalWords[T] {
	o := &optionalWords[T]{store: newStore(1), plain: make(map[store.Handle[T]]uint64)}
	o.table = must(store.Register(o.store, store.TableOptions[T]{Reserve: s.n}))
	o.words = must(store.AddSparse(o.table, store.ColumnOptions[uint64]{Name: "word"}))
	o.hosts = emplace(o.store, o.table, values[T](s.n))
	o.record(func(q store.Queue) {
		for _, i := range permutation(s.random(), s.n)[:s.n/10] {
			o.words.Set(q, o.hosts[i], uint64(i))
			o.plain[o.hosts[i]] = uint64(i)
		}
	})
	must(o.store.Flush(context.Background()))
	return o
}

func (o *optionalWords[T]) record(f func(q store.Queue)) {
	check(o.store.Each(context.Background(), 1, func(_ context.Context, _ int, q store.Queue) error {
		f(q)
		return nil
	}))
}

// visit goes over the rows and looks up the item of each.
func (o *optionalWords[T]) visit(rows int) *measure.Work {
	ctx := context.Background()
	return &measure.Work{Items: rows, Body: func() {
		check(o.words.ForEach(ctx, func(_ context.Context, c store.SparseChunk[T, uint64]) error {
			for i, h := range c.Owners {
				c.Items[i] += *first(o.table.At(h))
			}
			return nil
		}))
	}, Count: func() (n int) {
		for h, v := range o.table.All() {
			if w, ok := o.words.Get(h); ok && *w == 2**first(v) {
				n++
			}
		}
		return n
	}}
}

// flushes takes the word off those that have one, and then sets it again.
func (o *optionalWords[T]) flushes() *measure.Work {
	ctx, have := context.Background(), make([]store.Handle[T], 0, len(o.plain))
	for _, h := range o.hosts {
		if o.words.Has(h) {
			have = append(have, h)
		}
	}
	set := false
	var f flushing
	return &measure.Work{
		Items: len(have),
		Prepare: func() {
			o.record(func(q store.Queue) {
				for _, h := range have {
					if set {
						o.words.Set(q, h, 1)
					} else {
						o.words.Unset(q, h)
					}
				}
			})
			set = !set
		},
		Body:  func() { f.flush(ctx, o.store) },
		Count: f.count,
	}
}
