package suite

import (
	"context"
	"runtime"

	"handloom/bench/internal/measure"
	"handloom/shard/handle"
	"handloom/store"
)

// record returns the cases of recording n commands in one task, in the steady
// state: the batch is discarded after each pass. Beside them stands the append
// to a typed slice that somebody would write by hand.
func (s set[T]) record() []measure.Case {
	emplace := func(t *store.Table[T], q store.Queue, names []store.Handle[T]) {
		for i := range names {
			names[i] = t.Emplace(q, itemOf[T](uint64(i)))
		}
	}
	erase := func(t *store.Table[T], q store.Queue, names []store.Handle[T]) {
		for _, h := range names {
			t.Erase(q, h)
		}
	}
	return []measure.Case{
		s.newCase("record.emplace", "table", func() *measure.Work { return s.recording(emplace) }),
		s.newCase("record.emplace", "append", s.appending),
		s.newCase("record.erase", "table", func() *measure.Work { return s.recording(erase) }),
		s.newCase("record.erase", "append", s.appendingHandles),
		s.allocations("record.emplace.allocs", emplace),
		s.allocations("record.erase.allocs", erase),
	}
}

// recorded is one task's recording into a table of 8 shards.
type recorded[T item] func(t *store.Table[T], q store.Queue, names []store.Handle[T])

func (s set[T]) recording(f recorded[T]) *measure.Work {
	st := newStore(1)
	t := must(store.Register(st, store.TableOptions[T]{Shards: shards}))
	names := make([]store.Handle[T], s.n)
	for i := range names {
		names[i] = store.Handle[T]{ID: handle.New(uint16(1+i%shards), 1, uint32(i/shards))}
	}
	ctx := context.Background()
	task := func(_ context.Context, _ int, q store.Queue) error {
		f(t, q, names)
		return nil
	}
	return &measure.Work{
		Items:   s.n,
		Prepare: func() { check(st.Discard()) },
		Body:    func() { check(st.Each(ctx, 1, task)) },
	}
}

// allocations is the case of what a recorded command allocates in the steady
// state, the discarding included.
func (s set[T]) allocations(op string, f recorded[T]) measure.Case {
	c := s.newCase(op, "table", func() *measure.Work {
		w := s.recording(f)
		return &measure.Work{Measure: func() float64 {
			const passes = 10
			w.Prepare()
			w.Body()
			w.Prepare()
			w.Body()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range passes {
				w.Prepare()
				w.Body()
			}
			runtime.ReadMemStats(&after)
			// Less than one in a thousand commands is what the runtime itself
			// and the phase of each pass allocate.
			return float64((after.Mallocs - before.Mallocs) * 1000 / uint64(passes*s.n) / 1000)
		}}
	})
	c.Unit = "allocs/item"
	return c
}

// appending is recording by hand: one typed slice, and the index as a name.
func (s set[T]) appending() *measure.Work {
	var column []T
	names := make([]uint64, s.n)
	return &measure.Work{
		Items:   s.n,
		Prepare: func() { column = column[:0] },
		Body:    func() { column = appendItems(column, names) },
	}
}

func appendItems[T item](column []T, names []uint64) []T {
	for i := range names {
		names[i] = 1<<63 | uint64(len(column))
		column = append(column, itemOf[T](uint64(i)))
	}
	return column
}

func (s set[T]) appendingHandles() *measure.Work {
	var column []uint64
	names := make([]handle.ID, s.n)
	return &measure.Work{
		Items:   s.n,
		Prepare: func() { column = column[:0] },
		Body:    func() { column = appendHandles(column, names) },
	}
}

func appendHandles(column []uint64, names []handle.ID) []uint64 {
	for _, h := range names {
		column = append(column, uint64(h))
	}
	return column
}
