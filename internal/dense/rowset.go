package dense

import (
	"iter"
	"math/bits"
)

// rowSet is a bitmap that, unlike [slotset.Bits], removes ranges.
type rowSet struct {
	words []uint64
	count int
}

// grow makes room for rows below n.
func (s *rowSet) grow(n int) {
	if words := (n + 63) / 64; words > len(s.words) {
		words = max(words, len(s.words)*3/2)
		s.words = append(make([]uint64, 0, words), s.words...)[:words]
	}
}

func (s *rowSet) has(row int) bool { return s.word(row/64)>>(row%64)&1 != 0 }

// word returns 64 rows of the set. Rows past the bitmap are not in it.
func (s *rowSet) word(w int) uint64 {
	if w < len(s.words) {
		return s.words[w]
	}
	return 0
}

// addRange adds the rows lo to hi-1, for which grow has made room.
func (s *rowSet) addRange(lo, hi int) {
	for lo < hi {
		mask, next := span(lo, hi)
		w := &s.words[lo/64]
		s.count += bits.OnesCount64(mask &^ *w)
		*w |= mask
		lo = next
	}
}

func (s *rowSet) removeRange(lo, hi int) {
	for lo < hi && s.count > 0 {
		mask, next := span(lo, hi)
		w := &s.words[lo/64]
		s.count -= bits.OnesCount64(mask & *w)
		*w &^= mask
		lo = next
	}
}

// span returns the bits of the rows lo to hi-1 in the word of lo, and the first row past
// them.
func span(lo, hi int) (mask uint64, next int) {
	next = min(hi, lo|63+1)
	return ^uint64(0) >> (64 - (next - lo)) << (lo % 64), next
}

// exchange follows an exchange of two rows.
func (s *rowSet) exchange(a, b int) {
	if s.count > 0 && s.has(a) != s.has(b) {
		s.words[a/64] ^= 1 << (a % 64)
		s.words[b/64] ^= 1 << (b % 64)
	}
}

// all yields the rows in ascending order.
func (s *rowSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range s.words {
			for ; word != 0; word &= word - 1 {
				if !yield(w*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

func (s *rowSet) clear() {
	if s.count > 0 {
		clear(s.words)
		s.count = 0
	}
}
