package store_test

import (
	"testing"

	"handloom/store"
)

func TestSet_OfOtherQueuesCreatesAllocatesNothing(t *testing.T) {
	plainBuild(t)
	ctx := t.Context()
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	a, b := addColumn(t, table, store.ColumnOptions[uint64]{Name: "a"}), addColumn(t, table, store.ColumnOptions[string]{Name: "b"})
	var made []store.Handle[item]
	create := func(_ int, q store.Queue) {
		made = made[:0]
		for i := range 300 {
			h := table.Emplace(q, item{})
			if i == 10 {
				a.Set(q, h, 1)
			}
			made = append(made, h)
		}
	}
	set := func(_ int, q store.Queue) {
		for i, h := range made {
			a.Set(q, h, uint64(i))
			b.Set(q, h, "b")
		}
		table.EraseAll(q)
	}
	var err error
	frame := func() {
		for _, task := range []func(int, store.Queue){create, set} {
			if err == nil {
				err = s.Each(ctx, 1, task)
			}
		}
		if err == nil {
			_, err = s.Flush(ctx)
		}
	}
	for range 20 {
		frame()
	}
	if n := testing.AllocsPerRun(20, frame); n > 8 || err != nil {
		t.Errorf("%v allocations in a frame, %v", n, err)
	}
	for i, h := range made {
		if real := resolve(t, table, h); *a.At(real) != uint64(i) || *b.At(real) != "b" {
			t.Fatalf("%v has %d and %q", real, *a.At(real), *b.At(real))
		}
	}
}
