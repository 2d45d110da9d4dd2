package dense

import (
	"math/bits"
	"slices"

	"handloom/internal/slotset"
)

const (
	rankSpare = 5  // bits of a rank beyond those needed for n ranks
	longRun   = 16 // maximum number of keys of equal rank that insertion sorts
)

// sortByRank sorts the rows by ranks if ranks need fewer passes than keys, and reports
// whether it did. A rank is the highest differing bits of a key, a few more than n keys
// need, so that nearly all ranks are distinct. A rank and its row fit one word; at most
// half as many bits are distributed. Keys of equal rank are sorted by insertion
// (op=sort/impl=SortByKey).
func (d *Set) sortByRank(keys []keyed, differ uint64) bool {
	n := len(keys)
	high := bits.Len64(differ)
	width := min(bits.Len(uint(n))+rankSpare, 32, high)
	if digits(width) >= digits(high-bits.TrailingZeros64(differ)) {
		return false // keys need as few passes
	}
	d.scratch.ranks = slices.Grow(d.scratch.ranks[:0], 2*n)[:2*n]
	ranks, spare := d.scratch.ranks[:n:n], d.scratch.ranks[n:]
	shift, mask := high-width, uint64(1)<<width-1
	for row := range keys {
		ranks[row] = keys[row].key>>(shift&63)&mask<<32 | uint64(row)
	}
	passes := digits(width)
	for pass := range passes {
		from, to := width*pass/passes, width*(pass+1)/passes
		rankPass(ranks, spare, 32+from, to-from)
		ranks, spare = spare, ranks
	}
	if !mend(ranks, keys) {
		return false
	}
	order := d.rowsFrom(0, n)
	for i, r := range ranks {
		order[i] = slotset.Row(r)
	}
	d.reorder(0, order, d.spareRows(n))
	return true
}

func digits(width int) int { return (width + digitBits - 1) / digitBits }

func rankPass(ranks, dst []uint64, shift, width int) {
	var counters [1 << digitBits]uint32
	next := counters[:1<<width]
	mask := uint64(len(next) - 1)
	for _, r := range ranks {
		next[r>>(shift&63)&mask]++
	}
	at := uint32(0)
	for d, count := range next {
		next[d] = at
		at += count
	}
	for _, r := range ranks {
		d := r >> (shift & 63) & mask
		dst[next[d]] = r
		next[d]++
	}
}

// mend sorts keys of equal rank. It returns false if a run of equal ranks is too long.
func mend(ranks []uint64, keys []keyed) bool {
	begin := 0 // start of the run of equal ranks
	for i := 1; i < len(ranks); i++ {
		r := ranks[i]
		if r>>32 != ranks[i-1]>>32 {
			begin = i
			continue
		}
		if i-begin >= longRun {
			return false
		}
		at, key := i, keys[uint32(r)].key
		for ; at > begin && keys[uint32(ranks[at-1])].key > key; at-- {
			ranks[at] = ranks[at-1]
		}
		ranks[at] = r
	}
	return true
}
