package slotset

import (
	"iter"
	"math/bits"
)

// BitmapWords is the number of words in a page of a [Live].
const (
	BitmapWords = 1 << bitmapBits / 64
	bitmapBits  = 12 // bits of a row that locate it in its page
)

// Live is a bitmap of the rows with an item, for a map whose rows have gaps. Its pages
// never move, so growth costs one page. The zero Live has no rows.
type Live struct {
	// Row i is bit i%64 of word i/64. Pages is exported for the map's iterations and insert
	// (op=iterate, op=insert).
	Pages []*[BitmapWords]uint64
}

func (l *Live) Grow(n int) {
	for l.Cap() < n {
		l.Pages = append(l.Pages, new([BitmapWords]uint64))
	}
}

func (l *Live) Cap() int { return len(l.Pages) << bitmapBits }

// Add and Remove require a row below the n of [Live.Grow].
func (l *Live) Add(row Row)    { l.Pages[row>>bitmapBits][row/64%BitmapWords] |= 1 << (row % 64) }
func (l *Live) Remove(row Row) { l.Pages[row>>bitmapBits][row/64%BitmapWords] &^= 1 << (row % 64) }

// Has allows any row.
func (l *Live) Has(row Row) bool { return l.Bits(int(row/64))>>(row%64)&1 == 1 }

// Bits returns the bits of the rows from 64*w on. Any w >= 0 is allowed.
func (l *Live) Bits(w int) uint64 {
	if p := uint(w) / BitmapWords; p < uint(len(l.Pages)) {
		return l.Pages[p][w%BitmapWords]
	}
	return 0
}

func (l *Live) AddRange(lo, hi int) {
	for base := lo &^ 63; base < hi; base += 64 {
		l.Pages[base>>bitmapBits][base/64%BitmapWords] |= window(base, lo, hi)
	}
}

func (l *Live) RemoveRange(lo, hi int) {
	for base := lo &^ 63; base < hi; base += 64 {
		l.Pages[base>>bitmapBits][base/64%BitmapWords] &^= window(base, lo, hi)
	}
}

// Run returns the first maximal range of rows with items in [lo, hi), or hi twice. It takes
// O((end-lo)/64) time.
func (l *Live) Run(lo, hi int) (first, end int) {
	for first = lo; first < hi; first = first&^63 + 64 {
		if live := l.Bits(first/64) >> (first % 64); live != 0 {
			first += bits.TrailingZeros64(live)
			break
		}
	}
	if first >= hi {
		return hi, hi
	}
	for end = first; end < hi; end = end&^63 + 64 {
		if gap := ^(l.Bits(end/64) >> (end % 64)) << (end % 64); gap != 0 {
			return first, min(hi, end&^63+bits.TrailingZeros64(gap))
		}
	}
	return first, hi
}

// Runs yields ranges of rows with items in [lo, hi), cut at multiples of 64, in O(runs +
// (hi-lo)/64) time.
func (l *Live) Runs(lo, hi int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for base := lo &^ 63; base < hi; base += 64 {
			live := l.Bits(base/64) & window(base, lo, hi)
			for live != 0 {
				first := bits.TrailingZeros64(live)
				end := first + bits.TrailingZeros64(^(live >> first))
				if !yield(base+first, base+end) {
					return
				}
				live &= ^uint64(0) << end
			}
		}
	}
}

// Nth returns the row of the item that n items precede, or [Live.Cap] if there is none. It
// takes O(row/64) time.
func (l *Live) Nth(n int) int {
	for p, page := range l.Pages {
		for w, word := range page {
			if items := bits.OnesCount64(word); items <= n {
				n -= items
				continue
			}
			for range n {
				word &= word - 1
			}
			return p<<bitmapBits + w*64 + bits.TrailingZeros64(word)
		}
	}
	return l.Cap()
}

func window(base, lo, hi int) uint64 {
	return ^uint64(0) << max(0, lo-base) & (^uint64(0) >> max(0, base+64-hi))
}

func (l *Live) Clear() {
	for _, page := range l.Pages {
		clear(page[:])
	}
}

func (l *Live) Shrink(n int) {
	pages := (n + 1<<bitmapBits - 1) >> bitmapBits
	l.Pages = append(make([]*[BitmapWords]uint64, 0, pages), l.Pages[:pages]...)
}

func (l *Live) Bytes() int64 { return int64(len(l.Pages))*BitmapWords*8 + int64(cap(l.Pages))*8 }
