package dense

import (
	"math/bits"
	"slices"

	"handloom/internal/slotset"
)

const (
	rankSpare = 5  // bits of a rank beyond those that n ranks take
	longRun   = 16 // keys of one rank, at most, that insertion puts in order
)

// sortByRank arranges the rows by their keys, if the ranks of these are as good as
// keys and sooner sorted, and reports whether it did. A rank is the highest bits in which keys differ, a
// few more than it takes to tell n keys apart, so that nearly all are told apart; with
// its row it fits one word, and half as many bits or less are distributed than keys
// have. What has one rank is put in order by its keys (op=sort/impl=SortByKey).
func (d *Set) sortByRank(keys []keyed, differ uint64) bool {
	n := len(keys)
	high := bits.Len64(differ)
	width := min(bits.Len(uint(n))+rankSpare, 32, high)
	if digits(width) >= digits(high-bits.TrailingZeros64(differ)) {
		return false // keys take no more passes
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

// digits returns how many passes so many bits take.
func digits(width int) int { return (width + digitBits - 1) / digitBits }

// rankPass is one stable distribution by the digit of width bits at shift.
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

// mend puts what has the same rank in the order of keys, and reports whether the runs
// of such were short.
func mend(ranks []uint64, keys []keyed) bool {
	begin := 0 // of the run of one rank
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
