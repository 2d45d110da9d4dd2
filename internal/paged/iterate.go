package paged

import (
	"fmt"
	"iter"
	"math/bits"
	"unsafe"

	"handloom/handle"
	"handloom/internal/slotset"
)

// All iterates by ascending row over the rows that exist when it is called.
func All[T any](s *Set) iter.Seq2[handle.Of[T], *T] { return Range[T](s, 0, s.slots) }

// Range yields in one place, so that the compiler inlines the loop with its body
// (op=iterate). Any item may be erased meanwhile.
func Range[T any](s *Set, lo, hi int) iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		if lo < 0 || lo > hi || hi > s.slots {
			s.badRange(lo, hi)
		}
		for base := lo &^ 63; base < hi && base>>6/slotset.BitmapWords < len(s.live.Pages); base += 64 {
			live := &s.live.Pages[uint(base)/64/slotset.BitmapWords][uint(base)/64%slotset.BitmapWords]
			todo := *live & (^uint64(0) << max(0, lo-base)) & (^uint64(0) >> max(0, base+64-hi))
			// Erases in the loop body clear bits of *live, so they drop out here.
			for ; todo != 0; todo &= *live {
				// One row, or all rows to the end of the word: the length of other runs is
				// unpredictable for the processor.
				bit := uint(bits.TrailingZeros64(todo))
				end := bit + 1
				if todo>>bit == ^uint64(0)>>bit && s.shift >= 6 {
					end, todo = 64, 0
				}
				todo &= todo - 1
				page := s.pages[(uint(base)+bit)>>(s.shift&63)]
				for ; bit < end; bit++ {
					// An item of the run was erased meanwhile.
					if *live>>(bit%64)&1 == 0 {
						continue
					}
					at := (uintptr(base) + uintptr(bit)) & uintptr(s.mask)
					id := *(*handle.ID)(unsafe.Add(page.words, at*wordSize))
					if !yield(handle.Of[T]{ID: id}, (*T)(unsafe.Add(page.items, at*unsafe.Sizeof(*new(T))))) {
						return
					}
				}
			}
		}
	}
}

// badRange panics for rows out of range.
func (s *Set) badRange(lo, hi int) {
	panic(fmt.Sprintf("slotmap: Range of rows %d to %d of a map of %d", lo, hi, s.slots))
}

// Backward iterates by descending row.
func Backward[T any](s *Set) iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		for w := (s.slots - 1) >> 6; w >= 0; w-- {
			todo := ^uint64(0)
			for live := s.live.Bits(w) & todo; live != 0; live = s.live.Bits(w) & todo {
				bit := 63 - bits.LeadingZeros64(live)
				todo = 1<<bit - 1
				slot := slotset.Slot(w*64 + bit)
				if !yield(handle.Of[T]{ID: *s.word(slot)}, itemOf[T](s, slot)) {
					return
				}
			}
		}
	}
}

// pieces splits a range of slots at page boundaries.
func (s *Set) pieces(first, end int) iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		for first < end {
			to := min(end, (first|int(s.mask))+1)
			if !yield(first, to) {
				return
			}
			first = to
		}
	}
}

// runs yields maximal ranges of rows with items within one page. Rows of a range may lose
// their items meanwhile.
func (s *Set) runs() iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		for at := 0; at < s.slots; {
			stop := min(s.slots, (at|int(s.mask))+1)
			first, end := s.live.Run(at, stop)
			if first < end && !yield(first, end) {
				return
			}
			at = end
		}
	}
}
