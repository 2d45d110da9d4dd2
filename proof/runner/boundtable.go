package runner

import (
	"context"
	"iter"

	"handloom/proof/model"
	"handloom/store"
)

// packed is a bound Table.
type packed[T any] struct {
	binding[T]
	table *store.Table[T]
}

// forEach changes items by f's change of the chunk, and their columns by own.
func (b *packed[T]) forEach(ctx context.Context, f func(c chunk)) error {
	return b.table.ForEach(ctx, func(c store.Chunk[T]) {
		view := b.view(c)
		view.wrote, view.wroteAll = func(_, i int) { c.Wrote(i) }, c.WroteAll
		view.change = func(change func(*uint64) bool, note bool) {
			for i := range c.Items {
				if b.changeKey(&c.Items[i], change) && note {
					c.Wrote(i)
				}
			}
		}
		// The chunk is valid only inside the task, and view with it.
		f(view)
	})
}

func (b *packed[T]) reduce(ctx context.Context, f func()) (model.Sum, error) {
	return store.Reduce(ctx, b.table, func(r store.Chunk[T]) model.Sum {
		return b.fold(f, values(r.All()))
	}, model.FoldChunks)
}

func (b *packed[T]) sortTable(ctx context.Context, w *store.Writer, compare func(a, b model.Item) int) error {
	return store.SortFunc(ctx, b.table, w, b.kind.compares(compare))
}

// The key of the store is a number, so it sorts by digits; sortTable compares.
func (b *packed[T]) sortTableByKey(ctx context.Context, w *store.Writer, key func(model.Item) uint64) error {
	return store.SortByKey(ctx, b.table, w, func(v *T) uint64 { return key(b.kind.read(v)) })
}

func (b *packed[T]) defragmentTable(ctx context.Context, w *store.Writer, compare func(a, b model.Item) int, budget int) (moves int, done bool, err error) {
	return store.Defragment(ctx, b.table, w, b.kind.compares(compare), budget)
}

func values[K, V any](all iter.Seq2[K, V]) func(yield func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range all {
			yield(v)
		}
	}
}

// stable is a bound StableTable.
type stable[T any] struct {
	binding[T]
	table *store.StableTable[T]
}

// A stable chunk yields live items alone, so its rows are not consecutive.
func (b *stable[T]) forEach(ctx context.Context, f func(c chunk)) error {
	return b.table.ForEach(ctx, func(c store.StableChunk[T]) {
		view := chunk{queue: c.Queue, index: c.Index}
		for h := range c.All() {
			view.handles = append(view.handles, uint64(h.ID))
		}
		// Rows of a stable chunk have gaps, so it notes by handle.
		view.wrote = func(_, i int) { c.Wrote(handleOf[T](view.handles[i])) }
		view.change = func(change func(*uint64) bool, note bool) {
			for h, v := range c.All() {
				if b.changeKey(v, change) && note {
					c.Wrote(h)
				}
			}
		}
		f(view)
	})
}

func (b *stable[T]) reduce(ctx context.Context, f func()) (model.Sum, error) {
	return store.Reduce(ctx, b.table, func(r store.StableChunk[T]) model.Sum {
		return b.fold(f, values(r.All()))
	}, model.FoldChunks)
}
