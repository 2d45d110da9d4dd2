package pages

import (
	"fmt"
	"iter"
	"math/bits"

	"handloom/internal/items"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Range iterates over handles and items of the rows lo to hi-1 in ascending order.
// Any item may be erased meanwhile; see slotmap.Map.Range.
func Range[T any](s *Stable, lo, hi int) iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) { walk(s, lo, hi, yield) }
}

// walk is the loop of Range, kept whole for speed (op=iterate).
func walk[T any](s *Stable, lo, hi int, yield func(handle.Of[T], *T) bool) {
	if lo < 0 || lo > hi || hi > s.slots {
		s.badRange(lo, hi)
	}
	for w := lo / 64; w*64 < hi && w/sparse.BitmapWords < len(s.live.Pages); w++ {
		live := &s.live.Pages[w/sparse.BitmapWords][w%sparse.BitmapWords]
		todo := window(w*64, lo, hi)
		if *live&todo == ^uint64(0) && s.shift >= 6 {
			slot := uint(w * 64)
			cells := (*items.As[cell[T]](&s.pages[slot>>(s.shift&63)]))[slot&uint(s.mask):][:64]
			for i := range cells {
				c := &cells[i]
				if *live>>i&1 != 0 && !yield(handle.Of[T]{ID: c.word}, &c.item) {
					return
				}
			}
			continue
		}
		// The bitmap is read anew for each item, for yield may erase.
		for left := *live & todo; left != 0; left = *live & todo {
			todo = -(left & -left) << 1 & todo
			slot := uint(w*64 + bits.TrailingZeros64(left))
			c := &(*items.As[cell[T]](&s.pages[slot>>(s.shift&63)]))[slot&uint(s.mask)]
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

// runOfPage returns the first run of rows with an item from row at on, before row hi
// and on the page of at, and whether there is one; if not, end is where to go on.
func (s *Stable) runOfPage(at, hi int) (first, end int, ok bool) {
	stop := min(hi, (at>>s.shift+1)<<s.shift)
	first, end = s.live.Run(at, stop)
	return first, end, first < end
}

func (s *Stable) badRange(lo, hi int) {
	panic(fmt.Sprintf("slotmap: Range of rows %d to %d of a map of %d", lo, hi, s.slots))
}

// Backward iterates over handles and items in descending order of rows. Any item
// may be erased meanwhile.
func Backward[T any](s *Stable) iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		for w := (s.slots - 1) >> 6; w >= 0; w-- {
			todo := ^uint64(0)
			for live := s.live.Bits(w) & todo; live != 0; live = s.live.Bits(w) & todo {
				bit := 63 - bits.LeadingZeros64(live)
				todo = 1<<bit - 1
				c := cellOf[T](s, sparse.Slot(w*64+bit))
				if !yield(handle.Of[T]{ID: c.word}, &c.item) {
					return
				}
			}
		}
	}
}
