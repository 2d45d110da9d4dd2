package store_test

import (
	"context"
	"iter"
	"testing"

	"handloom/store"
)

type anyTable[T any] interface {
	store.TableOf[T]
	Len() int
	Has(h store.Handle[T]) bool
	Get(h store.Handle[T]) (*T, bool)
	At(h store.Handle[T]) *T
	All() seqOf[T]
	Resolve(p store.Handle[T]) (store.Handle[T], bool)

	Emplace(q store.Queue, v T) store.Handle[T]
	EmplaceItems(q store.Queue, items []T, dst []store.Handle[T]) []store.Handle[T]
	Staged(q store.Queue, p store.Handle[T]) (*T, bool)
	Erase(q store.Queue, h store.Handle[T])
	EraseItems(q store.Queue, hs []store.Handle[T])
	EraseAll(q store.Queue)
	Put(q store.Queue, h store.Handle[T], v T)

	Insert(w *store.Writer, v T) store.Handle[T]
	Remove(w *store.Writer, h store.Handle[T]) bool
	Clear(w *store.Writer)

	visit(ctx context.Context, f func(chunk int, q store.Queue, items seqOf[T]) error) error
	fold(ctx context.Context, f func(chunk int, items seqOf[T]) uint64) (uint64, error)
}

type seqOf[T any] = iter.Seq2[store.Handle[T], *T]

type (
	itemTable   = anyTable[item]
	itemSeq     = seqOf[item]
	packedTable = packed[item]
	stableTable = stable[item]
)

type packed[T any] struct{ *store.Table[T] }

func (t packed[T]) visit(ctx context.Context, f func(int, store.Queue, seqOf[T]) error) error {
	return t.ForEach(ctx, func(c store.Chunk[T]) {
		c.Queue.Fail(f(c.Index, c.Queue, func(yield func(store.Handle[T], *T) bool) {
			for i, v := range c.All() {
				if !yield(c.Handle(i), v) {
					return
				}
			}
		}))
	})
}

func (t packed[T]) fold(ctx context.Context, f func(int, seqOf[T]) uint64) (uint64, error) {
	return store.Reduce(ctx, t.Table, func(r store.Chunk[T]) uint64 {
		return f(r.Index, each(r.Items, r.Handle))
	}, add)
}

func each[T any](items []T, handle func(i int) store.Handle[T]) seqOf[T] {
	return func(yield func(store.Handle[T], *T) bool) {
		for i := range items {
			if !yield(handle(i), &items[i]) {
				return
			}
		}
	}
}

type stable[T any] struct{ *store.StableTable[T] }

func (t stable[T]) visit(ctx context.Context, f func(int, store.Queue, seqOf[T]) error) error {
	return t.ForEach(ctx, func(c store.StableChunk[T]) {
		c.Queue.Fail(f(c.Index, c.Queue, c.All()))
	})
}

func (t stable[T]) fold(ctx context.Context, f func(int, seqOf[T]) uint64) (uint64, error) {
	return store.Reduce(ctx, t.StableTable, func(r store.StableChunk[T]) uint64 {
		return f(r.Index, r.All())
	}, add)
}

func add(a, b uint64) uint64 { return a + b }

func registerKind[T any](t tb, s *store.Store, o store.TableOptions[T], isStable bool) anyTable[T] {
	t.Helper()
	if isStable {
		return stable[T]{registerStable(t, s, o)}
	}
	return packed[T]{register(t, s, o)}
}

func registerStable[T any](t tb, s *store.Store, o store.TableOptions[T]) *store.StableTable[T] {
	t.Helper()
	return store.RegisterStable(s, o)
}

func bothKinds(t *testing.T, test func(t *testing.T, stable bool)) {
	t.Helper()
	t.Run("kind=packed", func(t *testing.T) { test(t, false) })
	t.Run("kind=stable", func(t *testing.T) { test(t, true) })
}
