package dense

import (
	"math/bits"
	"unsafe"

	"handloom/internal/slotset"
)

const (
	rankBits  = 32 // maximum width of a rank, which shares a word with its row
	rankSpare = 5  // bits of a rank beyond those needed for n ranks
	longRun   = 16 // maximum number of keys of equal rank that insertion sorts
)

// sortByRank sorts the rows by the ranks of their keys and reports whether it did. A rank
// and its row fit one word, half of a key and its row (op=sort/impl=SortByKey). If all keys
// differ in few adjacent bits, these are the ranks, and they replace keys.
//
// Otherwise a rank is the highest differing bits of a key, a few more than n keys need, so
// that nearly all ranks are distinct; insertion sorts keys of equal rank. The result is
// false if a run of these is too long; keys are then unchanged.
func (d *Set) sortByRank(keys []uint64, differ uint64) bool {
	n, all := len(keys), d.scratch()
	low, high := bits.TrailingZeros64(differ), bits.Len64(differ)
	if high-low <= rankBits {
		all.ranks = atLeast(all.ranks, n)
		setRanks(keys, keys, low, high-low)
		d.reorderByRank(rankSort(keys, all.ranks, high-low))
		return true
	}
	width := min(bits.Len(uint(n))+rankSpare, rankBits)
	all.ranks = atLeast(all.ranks, 2*n)
	ranks, spare := all.ranks[:n:n], all.ranks[n:]
	setRanks(ranks, keys, high-width, width)
	ranks, spare = rankSort(ranks, spare, width)
	if !mend(ranks, keys) {
		return false
	}
	d.reorderByRank(ranks, spare)
	return true
}

// setRanks sets ranks, which may be keys, to width bits of each key from low on, and the row.
func setRanks(ranks, keys []uint64, low, width int) {
	mask := uint64(1)<<width - 1
	for row, key := range keys {
		ranks[row] = key>>(low&63)&mask<<rankBits | uint64(row)
	}
}

// digits returns the number of radix passes for a width.
func digits(width int) int { return (width + digitBits - 1) / digitBits }

// rankSort returns the sorted ranks, and the other slice.
func rankSort(ranks, spare []uint64, width int) (sorted, rest []uint64) {
	passes := digits(width)
	for pass := range passes {
		from, to := width*pass/passes, width*(pass+1)/passes
		rankPass(ranks, spare, rankBits+from, to-from)
		ranks, spare = spare, ranks
	}
	return ranks, spare
}

// rankPass is [radixPass] for ranks.
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
func mend(ranks, keys []uint64) bool {
	begin := 0 // start of the run of equal ranks
	for i := 1; i < len(ranks); i++ {
		r := ranks[i]
		if r>>rankBits != ranks[i-1]>>rankBits {
			begin = i
			continue
		}
		// Insertion sort of longer runs would take quadratic time.
		if i-begin >= longRun {
			return false
		}
		at, key := i, keys[uint32(r)]
		for ; at > begin && keys[uint32(ranks[at-1])] > key; at-- {
			ranks[at] = ranks[at-1]
		}
		ranks[at] = r
	}
	return true
}

// reorderByRank moves the items to the order of ranks. Its rows are in the memory of
// unused, of the same length, so that a first sort touches less new memory (op=firstsort).
func (d *Set) reorderByRank(ranks, unused []uint64) {
	n := len(ranks)
	rows := unsafe.Slice((*slotset.Row)(unsafe.Pointer(unsafe.SliceData(unused))), 2*n)
	order, spare := rows[:n:n], rows[n:]
	for i, r := range ranks {
		order[i] = slotset.Row(r)
	}
	d.reorder(0, order, spare)
}
