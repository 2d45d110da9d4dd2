package suite

import (
	"context"
	"fmt"

	"handloom/bench/internal/measure"
	"handloom/store"
)

const shards = 8

func (s full[T]) tableLookUp() []measure.Case {
	return []measure.Case{
		s.newCase("get", "table", func() *measure.Work {
			st := newStore(1)
			t := store.Register(st, store.TableOptions[T]{Shards: shards, Reserve: s.n})
			return &measure.Work{Items: s.n, Body: lookUpIn(t, s.fill(st, t))}
		}),
	}
}

// lookUpIn returns the loop over the handles of a table. Each
// item type has its own loop: with a type parameter, Table.Get takes a quarter
// longer.
func lookUpIn[T item](table any, hs []store.Handle[T]) func() {
	switch t := table.(type) {
	case *store.Table[item8]:
		return func() { getTable8(t, any(hs).([]store.Handle[item8])) }
	case *store.Table[item64]:
		return func() { getTable64(t, any(hs).([]store.Handle[item64])) }
	}
	panic(fmt.Sprintf("suite: no loop over %T", table))
}

func getTable8(t *store.Table[item8], hs []store.Handle[item8]) {
	var sum uint64
	for _, h := range hs {
		if v, ok := t.Get(h); ok {
			sum += v.v
		}
	}
	sink += sum
}

func getTable64(t *store.Table[item64], hs []store.Handle[item64]) {
	var sum uint64
	for _, h := range hs {
		if v, ok := t.Get(h); ok {
			sum += v.v
		}
	}
	sink += sum
}

type emplacer[T any] interface {
	EmplaceItems(q store.Queue, items []T, dst []store.Handle[T]) []store.Handle[T]
	Resolve(p store.Handle[T]) (store.Handle[T], bool)
}

func (s set[T]) fill(st *store.Store, t emplacer[T]) []store.Handle[T] {
	hs := emplace(st, t, values[T](s.n))
	s.random().Shuffle(len(hs), func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
	return hs
}

func emplace[T any](st *store.Store, t emplacer[T], items []T) (hs []store.Handle[T]) {
	ctx := context.Background()
	check(st.Do(ctx, func(q store.Queue) {
		hs = t.EmplaceItems(q, items, nil)
	}))
	must(st.Flush(ctx))
	for i, p := range hs {
		hs[i], _ = t.Resolve(p)
	}
	return hs
}

func newStore(workers int) *store.Store {
	return store.New(store.Options{Workers: workers})
}

func must[V any](v V, err error) V {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
