package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"handloom/store"
)

func TestFail_ReturnsTheLowestError(t *testing.T) {
	const n = 100
	s, table := newTable(t, store.Options{Workers: 4}, store.TableOptions[item]{ChunkItems: 1})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "stable", ChunkItems: 1})
	marks := addSparse(t, table, store.ColumnOptions[int]{Name: "mark"})
	made := register(t, s, store.TableOptions[item]{Name: "made"})
	q := queues(t, s, 1)[0]
	stable.EmplaceItems(q, make([]item, n), nil)
	for range n {
		marks.Set(q, table.Emplace(q, item{}), 1)
	}
	flush(t, s)
	least := 2
	var kept store.Queue
	task := func(task int, q store.Queue) {
		made.Emplace(q, item{})
		q.Fail(nil)
		_, err := sum(q.Context(), made)
		q.Fail(err)
		if task >= least {
			q.Fail(fmt.Errorf("task %d: %w", task, errTask))
			q.Fail(errors.New("a later error"))
		}
		if task == least {
			kept = q
		}
	}
	for name, pass := range map[string]func(ctx context.Context) error{
		"Do":   func(ctx context.Context) error { return s.Do(ctx, func(q store.Queue) { task(2, q) }) },
		"Each": func(ctx context.Context) error { return s.Each(ctx, n, task) },
		"ForEach": func(ctx context.Context) error {
			return table.ForEach(ctx, func(c store.Chunk[item]) { task(c.Index, c.Queue) })
		},
		"ForEachRows": func(ctx context.Context) error {
			return table.ForEachRows(ctx, func(r store.Chunk[item]) { task(r.Index, r.Queue) })
		},
		"ForEach of a stable table": func(ctx context.Context) error {
			return stable.ForEach(ctx, func(c store.StableChunk[item]) { task(c.Index, c.Queue) })
		},
		"ForEach of a Sparse": func(ctx context.Context) error {
			return marks.ForEach(ctx, func(c store.SparseChunk[item, int]) { task(c.Index+2, c.Queue) })
		},
	} {
		err := pass(t.Context())
		wantError(t, name, err, errTask)
		wantIn(t, name, err.Error(), fmt.Sprintf("task %d", least))
		wantIn(t, name, panicOf(func() { kept.Fail(errTask) }), "was kept past its pass")
		flush(t, s)
		equal(t, "items that "+name+" made", made.Len(), 0)
		least = n
		noError(t, pass(t.Context())) // no error is left from the previous pass
		least = 2
		noError(t, s.Discard())
	}
	in := func(q store.Queue) error { q.Fail(errTask); return nil }
	wantIn(t, "in the inbox", panicOf(func() { _ = s.Inbox(in) }), "is not for a task of a pass")
	wantIn(t, "of Queues", panicOf(func() { queues(t, s, 1)[0].Context() }), "is not for a task of a pass")
}

func TestReduce_VisitsSparseData(t *testing.T) {
	for _, stable := range []bool{false, true} {
		s := newStore(t, store.Options{Workers: 4})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 3}, stable)
		marks := addSparse(t, table, store.ColumnOptions[int]{Name: "mark"})
		q, want := queues(t, s, 1)[0], 0
		for i := range 10_000 {
			if h := table.Emplace(q, item{}); i%3 == 0 {
				marks.Set(q, h, i)
				want += i
			}
		}
		flush(t, s)
		marked := func(ctx context.Context) (int, error) {
			return store.Reduce(ctx, marks, func(c store.SparseChunk[item, int]) (sum int) {
				for i, h := range c.Owners {
					if v, ok := marks.Get(h); ok && *v == c.Items[i] {
						sum += *v
					}
				}
				return sum
			}, addInt)
		}
		got, err := marked(t.Context())
		noError(t, err)
		equal(t, "the sum", got, want)
		noError(t, marks.ForEach(t.Context(), func(c store.SparseChunk[item, int]) {
			wantError(t, "in a pass that writes them", onlyError(marked(c.Queue.Context())), store.ErrPhase)
		}))
	}
}

func TestReduce_RefusesToRecordAndWrite(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "stable"})
	column := addColumn(t, table, store.ColumnOptions[int]{Name: "c"})
	stable.Emplace(queues(t, s, 1)[0], item{})
	fill(t, s, table, 1)
	refused := func(what string, f func()) { wantIn(t, what, panicOf(f), "of a Reduce") }
	_, err := store.Reduce(t.Context(), table, func(r store.Chunk[item]) int {
		refused("Erase", func() { r.Erase(0) })
		refused("Wrote", func() { r.Wrote(0) })
		refused("Write", func() { column.Write(r) })
		refused("Wrote of a column", func() { column.Wrote(r, 0) })
		wantIn(t, "Emplace", panicOf(func() { table.Emplace(r.Queue, item{}) }), "the zero Queue")
		wantIn(t, "Fail", panicOf(func() { r.Queue.Fail(errTask) }), "the zero Queue")
		return len(column.Read(r))
	}, addInt)
	noError(t, err)
	_, err = store.Reduce(t.Context(), stable, func(c store.StableChunk[item]) int {
		for h := range c.All() {
			refused("Wrote", func() { c.Wrote(h) })
		}
		return 0
	}, addInt)
	noError(t, err)
}
