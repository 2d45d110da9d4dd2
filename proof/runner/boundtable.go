package runner

import (
	"context"

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
		view := chunk{queue: c.Queue, index: c.Index, erase: c.Erase, wroteAll: c.WroteAll}
		// A ForEach notes items; the column does not matter.
		view.wrote = func(_, i int) { c.Wrote(i) }
		view.own = func(number int) elements { return b.column(number).rows(c) }
		for i := range c.Items {
			view.handles = append(view.handles, uint64(c.Handle(i).ID))
		}
		view.change = func(change func(*uint64) bool, touch bool) {
			for i := range c.Items {
				// A table with FixedKeys requires Touch for each changed key. In other
				// tables a touch is allowed.
				if b.changeKey(&c.Items[i], change) && touch {
					c.Touch(i)
				}
			}
		}
		// The chunk is valid only inside the task, and view with it.
		f(view)
	})
}

func (b *packed[T]) reduce(ctx context.Context, f func()) (model.Sum, error) {
	return store.Reduce(ctx, b.table, func(r store.Rows[T]) model.Sum {
		return b.fold(f, func(yield func(*T) bool) {
			for i := range r.Items {
				yield(&r.Items[i])
			}
		})
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

// stable is a bound StableTable.
type stable[T any] struct {
	binding[T]
	table *store.StableTable[T]
}

// A stable chunk yields live items alone, so its rows are not consecutive.
func (b *stable[T]) forEach(ctx context.Context, f func(c chunk)) error {
	return b.table.ForEach(ctx, func(c store.StableChunk[T]) {
		view := chunk{queue: c.Queue, index: c.Index, wroteAll: c.WroteAll}
		for h := range c.All() {
			view.handles = append(view.handles, uint64(h.ID))
		}
		// Rows of a stable chunk have gaps, so it notes by handle.
		view.wrote = func(_, i int) { c.Wrote(handleOf[T](view.handles[i])) }
		view.change = func(change func(*uint64) bool, _ bool) {
			for _, v := range c.All() {
				b.changeKey(v, change)
			}
		}
		f(view)
	})
}

func (b *stable[T]) reduce(ctx context.Context, f func()) (model.Sum, error) {
	return store.Reduce(ctx, b.table, func(r store.StableChunk[T]) model.Sum {
		return b.fold(f, func(yield func(*T) bool) {
			for _, v := range r.All() {
				yield(v)
			}
		})
	}, model.FoldChunks)
}
