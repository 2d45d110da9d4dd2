package store_test

import (
	"context"
	"slices"
	"testing"

	"handloom/store"
)

// tidy defragments every shard of a table without a bound and returns how many
// comparisons that took. The maps are in order afterwards.
func tidy(t *testing.T, s *store.Store, table *store.Table[item]) (comparisons int) {
	t.Helper()
	byValue := func(a, b *item) int {
		comparisons++
		return int(a.Value) - int(b.Value)
	}
	err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
		for _, m := range table.Maps(w) {
			if _, done := m.Defragment(byValue, 0); !done {
				t.Error("Defragment without a bound is not done")
			}
			if !slices.IsSortedFunc(m.Items(), func(a, b item) int { return int(a.Value) - int(b.Value) }) {
				t.Error("Defragment says done, and the map is out of order")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return comparisons
}

// ordered is a table of n items in two shards that are in order, with chunks
// smaller than a word of a bitmap.
func ordered(t *testing.T, n int, fixedKeys bool) (*store.Store, *store.Table[item], []store.Handle[item]) {
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{Shards: 2, ChunkItems: 7, FixedKeys: fixedKeys})
	hs := fill(t, s, table, n)
	tidy(t, s, table)
	if again := tidy(t, s, table); again != 0 {
		t.Fatalf("an ordered table takes %d comparisons", again)
	}
	return s, table, hs
}

func forEach(t *testing.T, table *store.Table[item], f func(c store.Chunk[item])) {
	t.Helper()
	err := table.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
		f(c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

const many = 2000

func TestAPassThatTouchesNothingMayHaveChangedEveryKey(t *testing.T) {
	s, table, _ := ordered(t, many, false)
	forEach(t, table, func(c store.Chunk[item]) {
		for i := range c.Items {
			c.Items[i].Value = many - c.Items[i].Value
		}
	})
	if n := tidy(t, s, table); n < many-2 {
		t.Errorf("%d comparisons of %d items that may have changed", n, many)
	}
}

func TestAPassOverFixedKeysChangesNone(t *testing.T) {
	s, table, _ := ordered(t, many, true)
	forEach(t, table, func(c store.Chunk[item]) {})
	if n := tidy(t, s, table); n != 0 {
		t.Errorf("%d comparisons although keys are fixed", n)
	}
}

func TestTouchedItemsAreTheOnesThatChanged(t *testing.T) {
	for _, fixedKeys := range []bool{false, true} {
		s, table, _ := ordered(t, many, fixedKeys)
		forEach(t, table, func(c store.Chunk[item]) {
			for i := range c.Items {
				if v := &c.Items[i]; v.Value%400 == 1 {
					v.Value = many - v.Value
					c.Touch(i)
				}
			}
		})
		if n := tidy(t, s, table); n == 0 || n > many/4 {
			t.Errorf("fixed keys %t: %d comparisons after 5 of %d items changed", fixedKeys, n, many)
		}
	}
}

func TestAPutChangesItsItem(t *testing.T) {
	s, table, hs := ordered(t, many, true)
	q := queues(t, s, 1)[0]
	table.Put(q, hs[3], item{Value: many})
	table.Put(q, hs[many-3], item{Value: 0})
	flush(t, s)
	if n := tidy(t, s, table); n == 0 || n > many/4 {
		t.Errorf("%d comparisons after 2 of %d items were put", n, many)
	}
}

func TestTouchingBeyondTheChunkPanics(t *testing.T) {
	_, table, _ := ordered(t, 10, true)
	err := table.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
		c.Touch(len(c.Items))
		return nil
	})
	if err == nil {
		t.Error("rows behind the chunk, which belong to others, were touched")
	}
}
