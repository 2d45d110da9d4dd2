package dense

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Whatever the bits are in which keys differ, the order is that of a stable sort, and
// ranks decide it where they take fewer passes, unless too many keys have the same.
func TestSortByKeyIsAStableSortForAnyKeys(t *testing.T) {
	type item struct{ key, id uint64 }
	for name, c := range map[string]struct {
		key    func(r *rand.Rand) uint64
		ranked bool
	}{
		"any":               {func(r *rand.Rand) uint64 { return r.Uint64() }, true},
		"small":             {func(r *rand.Rand) uint64 { return r.Uint64N(1000) }, false},
		"two":               {func(r *rand.Rand) uint64 { return r.Uint64N(2) << 63 }, false},
		"high bits alone":   {func(r *rand.Rand) uint64 { return r.Uint64() << 56 }, false},
		"pairs of one rank": {func(r *rand.Rand) uint64 { return r.Uint64N(1<<13)<<50 | r.Uint64N(4) }, true},
		"one rank":          {func(r *rand.Rand) uint64 { return r.Uint64N(2)<<63 | r.Uint64N(5000) }, false},
	} {
		for _, n := range []int{2, fewKeys - 1, fewKeys, 700, 5000} {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			all := make([]item, n)
			for i := range all {
				all[i] = item{c.key(r), uint64(i)}
			}
			d, err := New(items.For[item](), handle.Options{})
			noError(t, err)
			if _, err := d.InsertItems(items.From(all), nil); err != nil {
				t.Fatal(err)
			}
			for range 2 { // with scratch that holds something, too
				d.SortByKey(func(p unsafe.Pointer) uint64 { return (*item)(p).key })
			}
			slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(a.key, b.key) })
			if got := Items[item](d); !slices.Equal(got, all) {
				t.Errorf("%s, %d items: not in the order of a stable sort", name, n)
			}
			if err := d.Verify(); err != nil {
				t.Errorf("%s, %d items: %v", name, n, err)
			}
			keys := make([]keyed, n)
			var differ uint64
			for row := range keys {
				keys[row] = keyed{c.key(r), slotset.Row(row)}
				differ |= keys[row].key ^ keys[0].key
			}
			if n == 5000 && d.sortByRank(keys, differ) != c.ranked {
				t.Errorf("%s: sorted by rank: %t", name, !c.ranked)
			}
		}
	}
}
