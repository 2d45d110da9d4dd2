package slotmap

import (
	"fmt"
	"iter"
	"math/bits"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// All iterates over handles and items in ascending order of rows
// (op=iterate). Any item may be erased meanwhile; items inserted meanwhile are
// visited or not. It takes O(Len() + Rows()/64) time.
func (m *Map[T]) All() iter.Seq2[handle.Of[T], *T] { return m.Range(0, m.slots) }

// Range iterates over handles and items of the rows lo to hi-1, as [Map.All]
// does over all. It takes O(items + (hi-lo)/64) time. Ranging over it panics
// unless 0 <= lo <= hi <= Rows(); Range itself does not look, so that it inlines
// and its loop needs no memory.
func (m *Map[T]) Range(lo, hi int) iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) { m.walk(lo, hi, yield) }
}

// walk is the loop of Range, kept whole for speed (op=iterate).
func (m *Map[T]) walk(lo, hi int, yield func(handle.Of[T], *T) bool) {
	if lo < 0 || lo > hi || hi > m.slots {
		m.badRange(lo, hi)
	}
	for w := lo / 64; w*64 < hi && w/sparse.BitmapWords < len(m.live.Pages); w++ {
		live := &m.live.Pages[w/sparse.BitmapWords][w%sparse.BitmapWords]
		todo := window(w*64, lo, hi)
		// The bitmap is read anew for each item, for yield may erase.
		for left := *live & todo; left != 0; left = *live & todo {
			todo = -(left & -left) << 1 & todo
			slot := uint(w*64 + bits.TrailingZeros64(left))
			c := &m.pages[slot>>(m.shift&63)][slot&uint(m.mask)]
			if !yield(handle.Of[T]{ID: c.word}, &c.item) {
				return
			}
		}
	}
}

// window returns the bits that stand for the rows lo to hi-1 in a word whose
// lowest bit stands for base, which is below hi.
func window(base, lo, hi int) uint64 {
	return ^uint64(0) << max(0, lo-base) & (^uint64(0) >> max(0, base+64-hi))
}

func (m *Map[T]) badRange(lo, hi int) {
	panic(fmt.Sprintf("slotmap: Range of rows %d to %d of a map of %d", lo, hi, m.slots))
}

// Backward iterates over handles and items in descending order of rows. Any
// item may be erased meanwhile; items inserted meanwhile are visited or not.
func (m *Map[T]) Backward() iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		for w := (m.slots - 1) >> 6; w >= 0; w-- {
			todo := ^uint64(0)
			for live := m.live.Bits(w) & todo; live != 0; live = m.live.Bits(w) & todo {
				bit := 63 - bits.LeadingZeros64(live)
				todo = 1<<bit - 1
				c := m.cell(sparse.Slot(w*64 + bit))
				if !yield(handle.Of[T]{ID: c.word}, &c.item) {
					return
				}
			}
		}
	}
}

// Handles iterates over the handles in ascending order of rows, as [Map.All]
// does.
func (m *Map[T]) Handles() iter.Seq[handle.Of[T]] {
	return func(yield func(handle.Of[T]) bool) {
		for h := range m.All() {
			if !yield(h) {
				return
			}
		}
	}
}
