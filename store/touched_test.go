package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

// tidy defragments every shard and returns the number of comparisons.
func tidy(t *testing.T, s *store.Store, table *store.Table[item]) (comparisons int) {
	t.Helper()
	var compared atomic.Int64 // shards run in parallel
	runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
		_, done, err := store.Defragment(ctx, table, w, func(a, b *item) int { compared.Add(1); return byValue(a, b) }, 0)
		equal(t, "Defragment without a bound is done", done, true)
		return err
	})
	for _, rows := range byShard(table) {
		equal(t, "after Defragment the shard is in order", slices.IsSortedFunc(rows, byValue), true)
	}
	return int(compared.Load())
}

// ordered returns n items in two sorted shards, with chunks smaller than a word of a bitmap.
func ordered(t *testing.T, n int, fixedKeys bool) (*store.Store, *store.Table[item], []store.Handle[item]) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{Shards: 2, ChunkItems: 7, FixedKeys: fixedKeys})
	hs := fill(t, s, table, n)
	tidy(t, s, table)
	equal(t, "comparisons in an ordered table", tidy(t, s, table), 0)
	return s, table, hs
}

func forEach(t *testing.T, table *store.Table[item], f func(c store.Chunk[item])) {
	t.Helper()
	noError(t, table.ForEach(t.Context(), f))
}

const many = 2000

func TestTouched_ItemsAreReordered(t *testing.T) {
	for _, fixedKeys := range []bool{false, true} {
		s, table, _ := ordered(t, many, fixedKeys)
		forEach(t, table, func(c store.Chunk[item]) {
			for i := range c.Items {
				if v := &c.Items[i]; v.Value%400 == 1 {
					v.Value = many - v.Value
					c.Wrote(i)
				}
			}
		})
		if n := tidy(t, s, table); n == 0 || fixedKeys && n > many/4 {
			t.Errorf("fixed keys %t: %d comparisons after 5 of %d items changed", fixedKeys, n, many)
		}
		forEach(t, table, func(c store.Chunk[item]) {
			for i := range c.Items {
				if !fixedKeys { // a note of one item does not hide the others
					c.Items[i].Value = many - c.Items[i].Value
					c.Wrote(0)
				}
			}
		})
		if n := tidy(t, s, table); fixedKeys && n != 0 || !fixedKeys && n < many-2 {
			t.Errorf("fixed keys %t: %d comparisons after a pass over all", fixedKeys, n)
		}
	}
}

func TestTouched_PutTouchesItsItem(t *testing.T) {
	s, table, hs := ordered(t, many, true)
	q := queues(t, s, 1)[0]
	table.Put(q, hs[3], item{Value: many})
	table.Put(q, hs[many-3], item{Value: 0})
	flush(t, s)
	if n := tidy(t, s, table); n == 0 || n > many/4 {
		t.Errorf("%d comparisons after 2 of %d items were put", n, many)
	}
}

// In the next pass a note would name another row, or none.
func TestChunk_AfterItsPassPanics(t *testing.T) {
	s, table, hs := ordered(t, many, true)
	var kept store.Chunk[item]
	keep := func(index int) {
		t.Helper()
		forEach(t, table, func(c store.Chunk[item]) {
			if c.Index == index {
				kept = c
			}
		})
	}
	refused := func(when string) {
		t.Helper()
		c := kept
		uses := map[string]func(){"Wrote": func() { c.Wrote(5) }, "Erase": func() { c.Erase(5) }}
		if check.Cheap {
			uses["Handle"], uses["All"] = func() { c.Handle(5) }, func() { c.All() }
		}
		for what, use := range uses {
			want := fmt.Sprintf("store: %s of chunk %d of table \"store_test.item\": kept past its pass; "+
				"use the chunk of the current task", what, c.Index)
			equal(t, when+": panic of "+what, panicOf(use), want)
		}
	}
	keep(99)
	refused("after the pass")
	forEach(t, table, func(c store.Chunk[item]) {
		if c.Index == 99 {
			refused("in the same chunk of the next pass")
		}
	})
	table.EraseItems(queues(t, s, 1)[0], hs[10:])
	flush(t, s)
	refused("with its rows gone")
	forEach(t, table, func(store.Chunk[item]) {})
	keep(1)
	_ = table.ForEach(t.Context(), func(c store.Chunk[item]) { c.Queue.Fail(errTask) })
	refused("after a pass that failed")
	tidy(t, s, table)
	equal(t, "comparisons with nothing touched", tidy(t, s, table), 0)
}

func TestStableChunk_PanicsAfterItsPass(t *testing.T) {
	s, table := newStable(t, store.Options{}, store.TableOptions[item]{ChunkItems: 64})
	fill(t, s, table, 300)
	var kept store.StableChunk[item]
	refused := func(when string) {
		t.Helper()
		got := panicOf(func() {
			for range kept.All() {
				t.Fatalf("%s: it yields an item", when)
			}
		})
		if want := `store: All of chunk 3 of table "store_test.item": kept past its pass; `; !strings.HasPrefix(got, want) {
			t.Errorf("%s: All panics with %q, want %q", when, got, want)
		}
	}
	for pass := range 2 {
		noError(t, table.ForEach(t.Context(), func(c store.StableChunk[item]) {
			switch {
			case c.Index == 3 && pass == 0:
				kept = c
			case c.Index == 3:
				refused("in the next pass")
			}
		}))
		refused("after the pass")
	}
	write(t, s, func(w *store.Writer) { table.Clear(w) })
	refused("with its rows gone")
}
