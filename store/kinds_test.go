package store_test

import (
	"context"
	"iter"
	"testing"

	"handloom/store"
)

// itemTable is what tables of both kinds do, under one name.
type itemTable interface {
	Len() int
	Get(h store.Handle[item]) (*item, bool)
	Has(h store.Handle[item]) bool
	All() itemSeq
	Resolve(p store.Handle[item]) (store.Handle[item], bool)

	Emplace(q store.Queue, v item) store.Handle[item]
	EmplaceItems(q store.Queue, items []item, dst []store.Handle[item]) []store.Handle[item]
	EmplaceFunc(q store.Queue, f func(h store.Handle[item], v *item)) store.Handle[item]
	Staged(q store.Queue, p store.Handle[item]) (*item, bool)
	Erase(q store.Queue, h store.Handle[item])
	EraseItems(q store.Queue, hs []store.Handle[item])
	Put(q store.Queue, h store.Handle[item], v item)

	Insert(w *store.Writer, v item) (store.Handle[item], error)
	Clear(w *store.Writer)

	// visit is ForEach, and fold is Reduce to a sum.
	visit(ctx context.Context, f func(chunk int, q store.Queue, items itemSeq) error) error
	fold(ctx context.Context, f func(chunk int, items itemSeq) (uint64, error)) (uint64, error)
}

type itemSeq = iter.Seq2[store.Handle[item], *item]

type packedTable struct{ *store.Table[item] }

func (t packedTable) visit(ctx context.Context, f func(int, store.Queue, itemSeq) error) error {
	return t.ForEach(ctx, func(_ context.Context, c store.Chunk[item]) error {
		return f(c.Index, c.Queue, each(c.Items, c.Handle))
	})
}

func (t packedTable) fold(ctx context.Context, f func(int, itemSeq) (uint64, error)) (uint64, error) {
	return store.Reduce(ctx, t.Table, func(_ context.Context, r store.Rows[item]) (uint64, error) {
		return f(r.Index, each(r.Items, r.Handle))
	}, add)
}

// each iterates over rows as those of a stable table do themselves.
func each(items []item, handle func(i int) store.Handle[item]) itemSeq {
	return func(yield func(store.Handle[item], *item) bool) {
		for i := range items {
			if !yield(handle(i), &items[i]) {
				return
			}
		}
	}
}

type stableTable struct{ *store.StableTable[item] }

func (t stableTable) visit(ctx context.Context, f func(int, store.Queue, itemSeq) error) error {
	return t.ForEach(ctx, func(_ context.Context, c store.StableChunk[item]) error {
		return f(c.Index, c.Queue, c.All())
	})
}

func (t stableTable) fold(ctx context.Context, f func(int, itemSeq) (uint64, error)) (uint64, error) {
	return store.ReduceStable(ctx, t.StableTable, func(_ context.Context, r store.StableRows[item]) (uint64, error) {
		return f(r.Index, r.All())
	}, add)
}

func add(a, b uint64) uint64 { return a + b }

// registerKind adds a table of items of either kind.
func registerKind(t tb, s *store.Store, o store.TableOptions[item], stable bool) itemTable {
	t.Helper()
	if stable {
		return stableTable{registerStable(t, s, o)}
	}
	return packedTable{register(t, s, o)}
}

func registerStable[T any](t tb, s *store.Store, o store.TableOptions[T]) *store.StableTable[T] {
	t.Helper()
	table, err := store.RegisterStable(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// bothKinds runs a test for a table of each kind.
func bothKinds(t *testing.T, test func(t *testing.T, stable bool)) {
	t.Helper()
	t.Run("kind=packed", func(t *testing.T) { test(t, false) })
	t.Run("kind=stable", func(t *testing.T) { test(t, true) })
}
