package suite

import (
	"context"
	"runtime"

	"handloom/bench/internal/measure"
	"handloom/handle"
	"handloom/internal/entrance"
	"handloom/store"
)

// record returns the cases of recording n commands in one task; the batch is
// discarded after each pass. For comparison, a loop appends to a typed slice.
func record(s set[item32]) []measure.Case {
	return []measure.Case{
		s.newCase("record.emplace", "table", func() *measure.Work { return recording(s, emplaceAll) }),
		s.newCase("record.emplace", "append", func() *measure.Work { return appending(s) }),
		s.newCase("record.erase", "table", func() *measure.Work { return recording(s, eraseAll) }),
		s.newCase("record.erase", "append", func() *measure.Work { return appendingHandles(s) }),
		allocations(s, "record.emplace.allocs", emplaceAll),
		allocations(s, "record.erase.allocs", eraseAll),
	}
}

type recorded func(t *store.Table[item32], q store.Queue, names []store.Handle[item32])

func emplaceAll(t *store.Table[item32], q store.Queue, names []store.Handle[item32]) {
	for i := range names {
		names[i] = t.Emplace(q, item32{v: uint64(i), x: 1, y: 2, z: 3})
	}
}

func eraseAll(t *store.Table[item32], q store.Queue, names []store.Handle[item32]) {
	for _, h := range names {
		t.Erase(q, h)
	}
}

func recording(s set[item32], f recorded) *measure.Work {
	st := newStore(1)
	t := store.Register(st, store.TableOptions[item32]{Shards: shards})
	names := make([]store.Handle[item32], s.n)
	for i := range names {
		names[i] = store.Handle[item32]{ID: handle.New(uint16(1+i%shards), 1, uint32(i/shards))}
	}
	ctx := context.Background()
	task := func(_ int, q store.Queue) {
		f(t, q, names)
	}
	return &measure.Work{
		Items:   s.n,
		Prepare: func() { check(st.Discard()) },
		Body:    func() { check(st.Each(ctx, 1, task)) },
		Count:   st.Entrance(entrance.Key{}).Pending,
	}
}

func allocations(s set[item32], op string, f recorded) measure.Case {
	return s.measured(op, "table", "allocs/item", func() float64 {
		const passes = 10
		w := recording(s, f)
		allocs := mallocs(passes, func() {
			w.Prepare()
			w.Body()
		})
		// The runtime and the phase of each pass allocate less than one object
		// per thousand commands.
		return float64(allocs * 1000 / uint64(passes*s.n) / 1000)
	})
}

// Two warm-up calls precede.
func mallocs(times int, f func()) uint64 {
	var before, after runtime.MemStats
	for i := range 2 + times {
		if i == 2 {
			runtime.ReadMemStats(&before)
		}
		f()
	}
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

func appending(s set[item32]) *measure.Work {
	var column []item32
	names := make([]uint64, s.n)
	return &measure.Work{
		Items:   s.n,
		Prepare: func() { column = column[:0] },
		Body:    func() { column = appendItems(column, names) },
		Count:   func() int { return len(column) },
	}
}

func appendItems(column []item32, names []uint64) []item32 {
	for i := range names {
		names[i] = 1<<63 | uint64(len(column))
		column = append(column, item32{v: uint64(i), x: 1, y: 2, z: 3})
	}
	return column
}

func appendingHandles(s set[item32]) *measure.Work {
	var column []uint64
	names := make([]handle.ID, s.n)
	return &measure.Work{
		Items:   s.n,
		Prepare: func() { column = column[:0] },
		Body:    func() { column = appendHandles(column, names) },
		Count:   func() int { return len(column) },
	}
}

func appendHandles(column []uint64, names []handle.ID) []uint64 {
	for _, h := range names {
		column = append(column, uint64(h))
	}
	return column
}
