package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

func byValue(a, b *item) int { return cmp.Compare(a.Value, b.Value) }

func mixed(t tb, s *store.Store, shards, items int) *store.Table[item] {
	t.Helper()
	table := register(t, s, store.TableOptions[item]{Shards: shards, ChunkItems: 16})
	hs := fill(t, s, table, items)
	q := queues(t, s, 1)[0]
	for i, h := range hs {
		switch {
		case i%5 == 0:
			table.Erase(q, h)
		case i%3 == 0:
			table.Put(q, h, item{Value: uint64(i) * 7919 % 1000, Parent: hs[i-1]})
		}
	}
	flush(t, s)
	return table
}

// byShard returns the items of each shard that has some, in dense order.
func byShard[T any](table *store.Table[T]) (shards [][]*T) {
	last := uint16(0)
	for h, v := range table.All() {
		if h.ID.TypeID() != last {
			last, shards = h.ID.TypeID(), append(shards, nil)
		}
		shards[len(shards)-1] = append(shards[len(shards)-1], v)
	}
	return shards
}

func write(t tb, s *store.Store, f func(w *store.Writer)) {
	t.Helper()
	noError(t, s.Write(context.Background(), f))
}

func runFrame(t tb, s *store.Store, f func(ctx context.Context, w *store.Writer) error) {
	t.Helper()
	noError(t, onlyError(s.Frame(context.Background(), f)))
}

func TestDefragment_WithoutCompareResets(t *testing.T) {
	s := newStore(t, store.Options{})
	table := mixed(t, s, 3, 90)
	blank := digest(t, s)
	runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errTask)
		if _, done, err := store.Defragment(ended, table, w, byValue, 0); done || !errors.Is(err, errTask) {
			t.Errorf("with a context that has ended: %v, %v", done, err)
		}
		d, _ := s.Digest(ctx)
		equal(t, "digest with a context that has ended", d, blank)
		same := func(a, b *item) int { return 0 }
		if moves, done, err := store.Defragment(ctx, table, w, same, 0); moves != 0 || !done || err != nil {
			t.Errorf("Defragment of equal items: %d moves, %v, %v", moves, done, err)
		}
		if d, _ := s.Digest(ctx); d == blank {
			t.Error("nothing is known after Defragment")
		}
		if moves, done, err := store.Defragment(ctx, table, w, nil, 2); moves != 0 || done || err != nil {
			t.Errorf("Defragment without a comparison: %d moves, %v, %v", moves, done, err)
		}
		return nil
	})
	equal(t, "digest, with nothing known", digest(t, s), blank)
}

func TestSort_PanicIsReturnedAndOthersSorted(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		s := newStore(t, store.Options{Workers: workers})
		table := mixed(t, s, 4, 400)
		bad := func(v *item) bool { return v.Value == 1<<60 }
		runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
			for _, shard := range []int{2, 1} {
				byShard(table)[shard][20].Value = 1 << 60
			}
			values := func(rows []*item) (values []item) {
				for _, v := range rows {
					values = append(values, *v)
				}
				return values
			}
			before := [][]item{values(byShard(table)[1]), values(byShard(table)[2])}
			comparison := func(a, b *item) int {
				if bad(a) || bad(b) {
					panic("a fault of the test")
				}
				return byValue(a, b)
			}
			_, done, defragmented := store.Defragment(ctx, table, w, comparison, 0)
			for name, err := range map[string]error{
				"SortFunc":   store.SortFunc(ctx, table, w, comparison),
				"SortByKey":  store.SortByKey(ctx, table, w, func(v *item) uint64 { return uint64(comparison(v, v)) + v.Value }),
				"Defragment": defragmented,
			} {
				var fault *store.PanicError
				if !errors.As(err, &fault) || fault.Task != 1 || fault.Value != "a fault of the test" ||
					!strings.Contains(err.Error(), name+` of table "store_test.item"`) {
					t.Errorf("%d workers, %s: %v", workers, name, err)
				}
			}
			equal(t, "done with a comparison that panics", done, false)
			for shard, rows := range byShard(table) {
				inOrder := slices.IsSortedFunc(rows, byValue)
				if bad := shard == 1 || shard == 2; bad && !slices.Equal(values(rows), before[shard-1]) || !bad && !inOrder {
					t.Errorf("%d workers: shard %d is in order: %v", workers, shard, inOrder)
				}
			}
			return s.Verify(ctx)
		})
		usable(t, s, table)
	}
}

// While shards are ordered nothing else runs in the Write.
func TestSort_ExcludesCallsOfItsWrite(t *testing.T) {
	s := newStore(t, store.Options{Workers: 1})
	table := mixed(t, s, 2, 40)
	outside := t.Context()
	runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
		calls := 0
		err := store.SortFunc(outside, table, w, func(a, b *item) int {
			if calls++; calls == 1 {
				for what, call := range phases(s, table) {
					wantError(t, what+" inside SortFunc", call(ctx), store.ErrPhase)
				}
				wantIn(t, "Clear inside SortFunc", panicOf(func() { table.Clear(w) }), "while a pass or flush runs")
			}
			return byValue(a, b)
		})
		return errors.Join(err, s.Each(ctx, 1, func(int, store.Queue) {}), s.Verify(ctx))
	})
}

// All walks a sorted table in order, and handles keep their items.
func ExampleSortFunc() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship", Shards: 2})
	qs, _ := s.Queues(1)
	for _, hull := range []int{30, 10, 40, 20} {
		ships.Emplace(qs[0], Ship{Hull: hull})
	}
	_, _ = s.Flush(ctx)

	_, err := s.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		return store.SortFunc(ctx, ships, w, func(a, b *Ship) int { return cmp.Compare(a.Hull, b.Hull) })
	})
	fmt.Println(err)
	for h, ship := range ships.All() {
		fmt.Println(h, ship.Hull) // each shard separately
	}
	// Output:
	// <nil>
	// 1:1.1 10
	// 1:0.1 30
	// 2:1.1 20
	// 2:0.1 40
}

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
