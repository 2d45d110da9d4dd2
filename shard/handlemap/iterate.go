package handlemap

import (
	"iter"

	"handloom/internal/dense"
	"handloom/shard/handle"
)

// Items returns the dense set: every item, by row. The slice shares the map's
// memory, so that writing its elements writes the items; its capacity equals
// its length, so that appending to it copies. It is good until the next insert,
// erase or reorder.
func (m *Map[T]) Items() []T { return dense.Items[T](&m.dense) }

// All iterates over handles and items in dense order (op=iterate). The map must
// not change meanwhile; to erase while iterating, use [Map.Backward] or
// [Map.EraseFunc].
func (m *Map[T]) All() iter.Seq2[handle.Of[T], *T] { return dense.All[T](&m.dense) }

// Backward iterates over handles and items from the last row to the first. The
// current item may be erased meanwhile, and items may be inserted, which are
// not visited.
func (m *Map[T]) Backward() iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		for row := m.Len() - 1; row >= 0; row-- {
			if !yield(m.HandleAt(row), &m.Items()[row]) {
				return
			}
		}
	}
}
