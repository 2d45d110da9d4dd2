package handlemap

import (
	"iter"

	"handloom/handle"
	"handloom/internal/dense"
)

// Items returns the dense set: every item by row, in the memory of the map. Writes to
// elements change the items; its capacity equals its length, so append copies. It is valid
// until the next insert, erase or reorder.
func (m *Map[T]) Items() []T { return dense.Items[T](&m.dense) }

// All iterates over handles and items in dense order (op=iterate). The current item may be
// erased meanwhile. Items inserted meanwhile may or may not be visited. After any other
// erase or change of order the next step panics; to erase more, use [Map.EraseFunc].
func (m *Map[T]) All() iter.Seq2[handle.Of[T], *T] { return dense.All[T](&m.dense) }

// Backward iterates over handles and items from the last row to the first. The current item
// may be erased meanwhile. Items inserted meanwhile are not visited.
func (m *Map[T]) Backward() iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		for row := m.Len() - 1; row >= 0; row-- {
			if !yield(m.HandleAt(row), &m.Items()[row]) {
				return
			}
		}
	}
}
