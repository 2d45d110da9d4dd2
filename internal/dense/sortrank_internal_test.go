package dense

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
)

// Ranks are used unless many keys share one.
func TestSortByKey_IsStable(t *testing.T) {
	type item struct{ key, id uint64 }
	for name, c := range map[string]struct {
		key    func(r *rand.Rand) uint64
		ranked bool
	}{
		"any":               {func(r *rand.Rand) uint64 { return r.Uint64() }, true},
		"small":             {func(r *rand.Rand) uint64 { return r.Uint64N(1000) }, true},
		"two":               {func(r *rand.Rand) uint64 { return r.Uint64N(2) << 63 }, true},
		"high bits alone":   {func(r *rand.Rand) uint64 { return r.Uint64() << 56 }, true},
		"32 bits":           {func(r *rand.Rand) uint64 { return r.Uint64() & (1<<32 - 1) << 9 }, true},
		"33 bits":           {func(r *rand.Rand) uint64 { return r.Uint64() & (1<<33 - 1) << 9 }, true},
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
			_, err = d.InsertItems(items.From(all), nil)
			noError(t, err)
			for range 2 { // the second time with used scratch
				d.SortByKey(func(p unsafe.Pointer) uint64 { return (*item)(p).key })
			}
			slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(a.key, b.key) })
			if got := Items[item](d); !slices.Equal(got, all) {
				t.Errorf("%s, %d items: not in the order of a stable sort", name, n)
			}
			noError(t, d.Verify())
			keys := make([]uint64, n)
			var differ uint64
			for row := range keys {
				keys[row] = c.key(r)
				differ |= keys[row] ^ keys[0]
			}
			if n == 5000 && d.sortByRank(keys, differ) != c.ranked {
				t.Errorf("%s: sorted by rank: %t", name, !c.ranked)
			}
		}
	}
}
