package dense

import (
	"cmp"
	"slices"
	"testing"

	"handloom/internal/items"
)

// The last step of the sort moves nothing: the blocks are in order.
func TestSortRange_ReportsMovesWithinBlocks(t *testing.T) {
	type item struct{ key, _ uint64 }
	const block = blockBytes / 16
	byKey := func(a, b *item) int { return cmp.Compare(a.key, b.key) }
	for _, n := range []int{3 * block, 2*block + 1, 4*block - 1} {
		for _, first := range []int{0, 1, 100} { // rows that stay
			reversed := func(a, b *item) int {
				return cmp.Or(cmp.Compare((a.key-uint64(first))/block, (b.key-uint64(first))/block), cmp.Compare(b.key, a.key))
			}
			m := Bind[item](new(Set))
			for i := range n {
				_, err := Insert(m, item{key: uint64(i)})
				noError(t, err)
			}
			if _, done := Defragment(m, byKey, 0); !done {
				t.Fatal("setup: Defragment without a bound is not done")
			}
			m.SortRange(first, n, items.Compare(reversed))
			if Items[item](m)[first].key == uint64(first) {
				t.Fatal("setup: no row has moved")
			}
			_, done := Defragment(m, byKey, 0)
			if sorted := slices.IsSortedFunc(Items[item](m), func(a, b item) int { return byKey(&a, &b) }); !done || !sorted {
				t.Errorf("%d rows, sorted from row %d on: Defragment says done: %t, in order: %t", n, first, done, sorted)
			}
			noError(t, m.Verify())
		}
	}
}
