package slotmap

import (
	"iter"

	"handloom/handle"
	"handloom/internal/paged"
)

// All iterates over handles and items by ascending row (op=iterate). Any item may be erased
// meanwhile; items inserted meanwhile may or may not be visited. It takes O(Len() +
// Rows()/64) time.
func (m *Map[T]) All() iter.Seq2[handle.Of[T], *T] { return paged.All[T](&m.stable) }

// Range is [Map.All] for the rows lo to hi-1. It takes O(items + (hi-lo)/64) time. The
// iteration panics unless 0 <= lo <= hi <= Rows(); Range itself does not check, so that it
// inlines and the loop does not allocate.
func (m *Map[T]) Range(lo, hi int) iter.Seq2[handle.Of[T], *T] {
	return paged.Range[T](&m.stable, lo, hi)
}

// Backward iterates over handles and items by descending row. Any item may be erased
// meanwhile; items inserted meanwhile may or may not be visited.
func (m *Map[T]) Backward() iter.Seq2[handle.Of[T], *T] { return paged.Backward[T](&m.stable) }
