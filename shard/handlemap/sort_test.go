package handlemap_test

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"handloom/proof/maptest"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/shard/handlemap"
)

// card has few keys, for duplicates, and the size of a cache line.
type card struct {
	key, id uint64
	_       [6]uint64
}

func byKey(a, b *card) int { return cmp.Compare(a.key, b.key) }

// Some items were erased, so that slots and rows differ.
func cards(t testing.TB, n, keys int) (*handlemap.Map[card], []handle.Of[card]) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(keys)))
	m := newMap[card](t, handle.Options{TypeID: 3})
	var spoil []handle.Of[card]
	for range min(n/2, 5) {
		spoil = append(spoil, maptest.Insert(t, m, card{}))
	}
	hs := make([]handle.Of[card], n)
	for id := range hs {
		hs[id] = maptest.Insert(t, m, card{key: uint64(r.IntN(keys)), id: uint64(id)})
		if id < len(spoil) {
			m.Erase(spoil[len(spoil)-1-id])
		}
	}
	return m, hs
}

// expectCards checks the rows and handles.
func expectCards(t testing.TB, m *handlemap.Map[card], hs []handle.Of[card], want []card) {
	t.Helper()
	if !slices.Equal(m.Items(), want) {
		t.Fatal("wrong order, or cards lost")
	}
	for id, h := range hs {
		if v, ok := m.Get(h); !ok || v.id != uint64(id) {
			t.Fatalf("%v names %+v, not card %d", h, v, id)
		}
	}
	maptest.Verify(t, m)
}

// Sizes around the lengths of runs and blocks.
var cardCounts = []int{0, 1, 2, 3, 9, 10, 11, 20, 100, 255, 256, 257, 2047, 2049, 10_000}

func TestSort_IsStable(t *testing.T) {
	for name, sort := range map[string]func(*handlemap.Map[card]){
		"SortFunc":  func(m *handlemap.Map[card]) { m.SortFunc(byKey) },
		"SortRange": func(m *handlemap.Map[card]) { m.SortRange(0, m.Len(), byKey) },
		"SortByKey": func(m *handlemap.Map[card]) { m.SortByKey(func(v *card) uint64 { return v.key }) },
	} {
		for _, n := range cardCounts {
			for _, keys := range []int{1, 3, 40, 1 << 30} {
				m, hs := cards(t, n, keys)
				want := slices.Clone(m.Items())
				slices.SortStableFunc(want, func(a, b card) int { return byKey(&a, &b) })
				sort(m)
				expectCards(t, m, hs, want)
				sort(m) // sorted rows stay
				expectCards(t, m, hs, want)
				if t.Failed() {
					t.Fatalf("%s of %d cards with %d keys", name, n, keys)
				}
				i, j := n/3, n-n/4 // SortRange sorts only its rows
				m, hs = cards(t, n, keys)
				want = slices.Clone(m.Items())
				slices.SortStableFunc(want[i:j], func(a, b card) int { return byKey(&a, &b) })
				m.SortRange(i, j, byKey)
				expectCards(t, m, hs, want)
			}
		}
	}
}

func TestSortFunc_BoundsComparisons(t *testing.T) {
	for _, n := range []int{1, 100, 10_000} {
		m, _ := cards(t, n, 1<<30)
		count := 0
		counting := func(a, b *card) int { count++; return byKey(a, b) }
		m.SortFunc(counting)
		if logN := bits.Len(uint(n - 1)); count > n*(logN+1) {
			t.Errorf("%d comparisons of %d cards", count, n)
		}
		count = 0
		if m.SortFunc(counting); count > n+n/4 {
			t.Errorf("%d comparisons of %d cards that are in order", count, n)
		}
	}
}

func TestSort_ComparesInPlace(t *testing.T) {
	m, _ := cards(t, 5000, 100)
	first, last := &m.Items()[0], &m.Items()[m.Len()-1]
	inside := func(v *card) bool { return addr(v) >= addr(first) && addr(v) <= addr(last) }
	outside := 0
	look := func(a, b *card) int {
		if !inside(a) || !inside(b) {
			outside++
		}
		return byKey(a, b)
	}
	m.SortFunc(look)
	m.Defragment(look, 0)
	m.SortByKey(func(v *card) uint64 {
		if !inside(v) {
			outside++
		}
		return v.id
	})
	for done := false; !done; {
		_, done = m.Defragment(look, 1000)
	}
	if outside != 0 {
		t.Errorf("%d operands outside of the dense set", outside)
	}
}

func TestSort_PanicMovesNothing(t *testing.T) {
	for _, n := range []int{2, 12, 30, 3000} {
		m, hs := cards(t, n, 50)
		m.Defragment(byKey, 20)
		want := slices.Clone(m.Items())
		before := m.Digest()
		full := 0
		m.Clone().SortFunc(func(a, b *card) int { full++; return byKey(a, b) })
		for at := 0; at < full; at += 1 + full/97 {
			for name, exit := range map[string]func(){"panic": func() { panic("no") }, "exit": runtime.Goexit} {
				count := 0
				attempt(func() {
					m.SortFunc(func(a, b *card) int {
						if count++; count > at {
							exit()
						}
						return byKey(a, b)
					})
				})
				if m.Digest() != before {
					t.Fatalf("%s at comparison %d of %d changed the map", name, at, full)
				}
			}
		}
		expectCards(t, m, hs, want)
		maptest.PanicOf(func() { m.SortByKey(func(v *card) uint64 { return 1 / (v.id % uint64(n-1)) }) })
		maptest.PanicOf(func() { m.Partition(func(v *card) bool { return 1/(v.id%uint64(n-1)) == 0 }) })
		expectCards(t, m, hs, want)
		m.Erase(hs[0]) // changes are allowed again
	}
}

func TestSortFunc_KeepsPointees(t *testing.T) {
	m := newMap[*uint64](t, handle.Options{})
	for i := range uint64(500) {
		v := i * 7 % 500
		maptest.Insert(t, m, &v)
	}
	m.SortFunc(func(a, b **uint64) int { return cmp.Compare(**a, **b) })
	runtime.GC()
	for row, p := range m.Items() {
		if *p != uint64(row) {
			t.Fatalf("row %d holds %d", row, *p)
		}
	}
}

func TestSort_ReusesScratch(t *testing.T) {
	m, hs := cards(t, 3000, 1000)
	shuffled := slices.Clone(hs)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(hs), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	frame := func() {
		m.SortAs(shuffled)
		m.SortFunc(byKey)
		m.SortRange(10, 2900, func(a, b *card) int { return -byKey(a, b) })
		m.SortByKey(func(v *card) uint64 { return v.id * 77 % 1000 })
		m.Partition(func(v *card) bool { return v.id%3 == 0 })
		m.Swap(hs[0], hs[1])
		for done := false; !done; {
			_, done = m.Defragment(byKey, 500)
		}
		for _, h := range hs[:40] {
			m.At(h).key ^= 5
			m.Touch(h)
		}
		for done := false; !done; {
			_, done = m.Defragment(byKey, 100)
		}
		m.Defragment(nil, 0)
		m.Defragment(byKey, 0)
	}
	frame()
	if n := testing.AllocsPerRun(5, frame); n != 0 && !check.Cheap && testing.CoverMode() == "" {
		t.Errorf("%v allocations", n)
	}
	m.Shrink()
	maptest.Verify(t, m)
	frame()
}
