package slotmap

import (
	"iter"

	"handloom/internal/paged"
	"handloom/shard/handle"
)

// All iterates over handles and items in ascending order of rows
// (op=iterate). Any item may be erased meanwhile; items inserted meanwhile are
// visited or not. It takes O(Len() + Rows()/64) time.
func (m *Map[T]) All() iter.Seq2[handle.Of[T], *T] { return paged.All[T](&m.stable) }

// Range iterates over handles and items of the rows lo to hi-1, as [Map.All]
// does over all. It takes O(items + (hi-lo)/64) time. Ranging over it panics
// unless 0 <= lo <= hi <= Rows(); Range itself does not look, so that it inlines
// and its loop needs no memory.
func (m *Map[T]) Range(lo, hi int) iter.Seq2[handle.Of[T], *T] {
	return paged.Range[T](&m.stable, lo, hi)
}

// Backward iterates over handles and items in descending order of rows. Any
// item may be erased meanwhile; items inserted meanwhile are visited or not.
func (m *Map[T]) Backward() iter.Seq2[handle.Of[T], *T] { return paged.Backward[T](&m.stable) }
