package suite

import (
	"context"
	"slices"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// columns returns the cases of n items of 64 bytes with columns: sums and
// additions of words, against raw slices; creates, against tables without columns.
func columns(s set[item64]) (cases []measure.Case) {
	cases = append(columnPasses(s), rawColumns(s)...)
	cases = append(cases, s.newCase("columncreate", "table", func() *measure.Work { return createWide(s) }))
	return append(cases, s.newCase("columncreate", "table.4columns", func() *measure.Work { return createColumns(s) }))
}

func rawColumns(s set[item64]) []measure.Case {
	sum := func() *measure.Work {
		words := make([]uint64, s.n)
		for i := range words {
			words[i] = uint64(i)
		}
		return &measure.Work{Items: s.n, Body: func() { sink += sumOf(words) }}
	}
	add := func() *measure.Work {
		to, from := make([]uint64, s.n), slices.Repeat([]uint64{1}, s.n)
		return &measure.Work{
			Items: s.n, Body: func() { addTo(to, from) },
			Count: func() int { return count(to, 1) }, // after the first body
		}
	}
	return []measure.Case{s.newCase("columnsum", "slice", sum), s.newCase("columnadd", "slice", add)}
}

//go:noinline
func sumOf(words []uint64) (sum uint64) {
	for _, w := range words {
		sum += w
	}
	return sum
}

//go:noinline
func addTo(to, from []uint64) {
	from = from[:len(to)]
	for i := range to {
		to[i] += from[i]
	}
}

// columnPasses are the same loops in passes over a table.
func columnPasses(s set[item64]) (cases []measure.Case) {
	on := &common[columnTable[item64]]{make: func() columnTable[item64] { return newColumnTable[item64](s.n) }}
	for _, pass := range []struct {
		op, impl string
		body     func(b columnTable[item64], ctx context.Context)
		count    func(b columnTable[item64]) int // nil: the sum shows it
	}{
		{"columnsum", "table", columnTable[item64].sum, nil},
		{"columnadd", "table", columnTable[item64].add, columnTable[item64].added},
	} {
		cases = append(cases, s.scaling(pass.op, pass.impl, func(workers int) *measure.Work {
			b := on.open()
			var ctx context.Context
			w := &measure.Work{
				Items: s.n, Within: within(workers, &ctx), Close: on.close,
				Prepare: func() { must(b.store.Flush(ctx)) }, // as in a frame; without it each pass gets new queues
				Body:    func() { pass.body(b, ctx) },
			}
			if pass.count != nil {
				w.Count = func() int { return pass.count(b) }
			}
			return w
		})...)
	}
	return cases
}

type columnTable[T item] struct {
	store *store.Store
	table *store.Table[T]
	x, v  *store.Column[T, uint64]
}

func newColumnTable[T item](n int) columnTable[T] {
	st := newStore(0)
	t := store.Register(st, store.TableOptions[T]{Shards: shards, Reserve: n})
	b := columnTable[T]{st, t, addWords(t, "x"), addWords(t, "v")}
	emplace(st, t, values[T](n))
	check(t.ForEachRows(context.Background(), func(c store.Chunk[T]) {
		x, v := b.x.Write(c), b.v.Write(c)
		for i := range x {
			x[i], v[i] = *first(&c.Items[i]), 1
		}
	}))
	return b
}

func (b columnTable[T]) added() int {
	return must(store.Reduce(context.Background(), b.table, func(r store.Chunk[T]) (n int) {
		for i, x := range b.x.Read(r) {
			if x == *first(&r.Items[i])+1 {
				n++
			}
		}
		return n
	}, func(a, b int) int { return a + b }))
}

func count(words []uint64, v uint64) (n int) {
	for _, w := range words {
		if w == v {
			n++
		}
	}
	return n
}

func addWords[T item](t *store.Table[T], name string) *store.Column[T, uint64] {
	return store.AddColumn(t, store.ColumnOptions[uint64]{Name: name})
}

func plus(a, b uint64) uint64 { return a + b }

func (b columnTable[T]) sum(ctx context.Context) {
	sink += must(store.Reduce(ctx, b.table, func(r store.Chunk[T]) uint64 {
		return sumOf(b.x.Read(r))
	}, plus))
}

func (b columnTable[T]) add(ctx context.Context) {
	check(b.table.ForEachRows(ctx, func(c store.Chunk[T]) {
		addTo(b.x.Write(c), b.v.Read(c))
	}))
}

// item16 and four columns of 12 bytes have 64 bytes.
type (
	item16    [2]uint64
	element12 [12]byte
)

func createWide(s set[item64]) *measure.Work {
	st := newStore(1)
	t := store.Register(st, store.TableOptions[item64]{Reserve: s.n})
	return creates(s, st, t.Clear, func(q store.Queue) {
		for i := range s.n {
			t.Emplace(q, itemOf[item64](uint64(i)))
		}
	})
}

func createColumns(s set[item64]) *measure.Work {
	st := newStore(1)
	t := store.Register(st, store.TableOptions[item16]{Reserve: s.n})
	var columns [4]*store.Column[item16, element12]
	for i := range columns {
		columns[i] = store.AddColumn(t, store.ColumnOptions[element12]{Name: string(rune('a' + i))})
	}
	return creates(s, st, t.Clear, func(q store.Queue) {
		for i := range s.n {
			h := t.Emplace(q, item16{uint64(i)})
			for _, c := range columns {
				c.Set(q, h, element12{byte(i)})
			}
		}
	})
}

func creates(s set[item64], st *store.Store, empty func(w *store.Writer), record func(q store.Queue)) *measure.Work {
	ctx := context.Background()
	var f flushing
	return &measure.Work{
		Items: s.n,
		Prepare: func() {
			check(st.Write(ctx, empty))
			check(st.Do(ctx, func(q store.Queue) {
				record(q)
			}))
		},
		Body:  func() { f.flush(ctx, st) },
		Count: f.count,
	}
}
