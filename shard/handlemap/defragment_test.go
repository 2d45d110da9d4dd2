package handlemap_test

import (
	"cmp"
	"maps"
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

func ascend(a, b *uint64) int { return cmp.Compare(*a, *b) }

type counter struct{ calls int }

func (c *counter) ascend(a, b *uint64) int {
	c.calls++
	return ascend(a, b)
}

func step(t testing.TB, m *handlemap.Map[uint64], budget int) (spent, moves int, done bool) {
	t.Helper()
	var c counter
	moves, done = m.Defragment(c.ascend, budget)
	if budget > 0 && c.calls+moves > budget {
		t.Fatalf("%d comparisons and %d moves with a budget of %d", c.calls, moves, budget)
	}
	if done && !slices.IsSorted(m.Items()) {
		t.Fatalf("done, but %v", m.Items())
	}
	return c.calls, moves, done
}

// The number of calls is bounded by the work.
func finish(t testing.TB, m *handlemap.Map[uint64], budget int) (comparisons, moves int) {
	t.Helper()
	n := m.Len()
	for calls := 0; ; calls++ {
		c, k, done := step(t, m, budget)
		comparisons, moves = comparisons+c, moves+k
		if done {
			return comparisons, moves
		}
		if c+k != budget || calls > 4*n*(bits.Len(uint(n))+2) {
			t.Fatalf("call %d of %d items spends %d of %d and is not done", calls, n, c+k, budget)
		}
	}
}

// eachOrder also halves the values, for duplicates.
func eachOrder(n int, f func(values []uint64)) {
	var extend func(values, halves []uint64)
	extend = func(values, halves []uint64) {
		if len(values) == n {
			f(values)
			f(halves)
			return
		}
		for v := range uint64(n) {
			if !slices.Contains(values, v) {
				extend(append(values[:len(values):len(values)], v), append(halves[:len(halves):len(halves)], v/2))
			}
		}
	}
	extend(nil, nil)
}

func ordered(t testing.TB, values []uint64) (*handlemap.Map[uint64], []number) {
	t.Helper()
	var m handlemap.Map[uint64]
	hs, err := m.InsertItems(values, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &m, hs
}

func expectValues(t testing.TB, m *handlemap.Map[uint64], hs []number, values []uint64) {
	t.Helper()
	for i, h := range hs {
		if v, ok := m.Get(h); !ok || *v != values[i] {
			t.Fatalf("%v names %s, not %d", h, maptest.Describe(v), values[i])
		}
	}
}

func TestDefragment_AllOrdersAndBudgets(t *testing.T) {
	most := 7
	if testing.Short() || check.Cheap {
		most = 5
	}
	for n := range most + 1 {
		eachOrder(n, func(values []uint64) {
			fewest, most := 1<<30, 0
			for budget := 0; budget <= n*n; budget++ {
				m, hs := ordered(t, values)
				comparisons, moves := finish(t, m, budget)
				if moves > n {
					t.Fatalf("%v: %d moves with budget %d", values, moves, budget)
				}
				if budget > 0 {
					fewest, most = min(fewest, comparisons), max(most, comparisons)
				}
				expectValues(t, m, hs, values)
				if c, k, done := step(t, m, budget); c+k != 0 || !done {
					t.Fatalf("%v: in order, but %d more comparisons and %d moves", values, c, k)
				}
			}
			if n > 0 && fewest != most {
				t.Fatalf("%v: %d to %d comparisons, depending on the budget", values, fewest, most)
			}
		})
	}
}

func large(t testing.TB, n int) (*handlemap.Map[uint64], *rand.Rand) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 1))
	m := newMap[uint64](t, handle.Options{})
	for range n {
		maptest.Insert(t, m, r.Uint64N(uint64(n)))
	}
	return m, r
}

func TestDefragment_TakesKLogNComparisons(t *testing.T) {
	const n = 20_000
	changes := map[string]func(m *handlemap.Map[uint64], r *rand.Rand){
		"insert": func(m *handlemap.Map[uint64], r *rand.Rand) { m.Insert(r.Uint64N(n)) },
		"erase":  func(m *handlemap.Map[uint64], r *rand.Rand) { m.Erase(m.HandleAt(r.IntN(m.Len()))) },
		"touch": func(m *handlemap.Map[uint64], r *rand.Rand) {
			h := m.HandleAt(r.IntN(m.Len()))
			*m.At(h) = r.Uint64N(n)
			m.Touch(h)
		},
		"touch at the end": func(m *handlemap.Map[uint64], r *rand.Rand) {
			h := m.HandleAt(r.IntN(m.Len()))
			*m.At(h) += n
			m.Touch(h)
		},
		"swap": func(m *handlemap.Map[uint64], r *rand.Rand) {
			m.Swap(m.HandleAt(r.IntN(m.Len())), m.HandleAt(r.IntN(m.Len())))
		},
		"erase two": func(m *handlemap.Map[uint64], r *rand.Rand) {
			m.EraseItems([]number{m.HandleAt(r.IntN(m.Len())), m.HandleAt(r.IntN(m.Len()))})
		},
		"sort two": func(m *handlemap.Map[uint64], r *rand.Rand) {
			i := r.IntN(m.Len() - 2)
			m.SortRange(i, i+2, func(a, b *uint64) int { return ascend(b, a) })
		},
	}
	logN := bits.Len(n)
	for name, change := range changes {
		m, r := large(t, n)
		if c, k := finish(t, m, 0); c > n*(logN+1) || k > n {
			t.Errorf("the first order takes %d comparisons and %d moves", c, k)
		}
		for _, k := range []int{0, 1, 2, 10, 100, 1000, 5000} {
			for _, budget := range []int{0, 1000, 77} {
				for range min(k, m.Len()/4) {
					change(m, r)
				}
				comparisons, moves := finish(t, m, budget)
				if comparisons > 2*k*(logN+2) || moves > m.Len() {
					t.Errorf("%d times %s, budget %d: %d comparisons and %d moves", k, name, budget, comparisons, moves)
				}
			}
		}
	}
}

func TestDefragment_ConstantChanges(t *testing.T) {
	const n, frames, budget = 5000, 3000, 200
	m, r := large(t, n)
	work := 0
	for range frames {
		h := m.HandleAt(r.IntN(m.Len()))
		*m.At(h) = r.Uint64N(n)
		m.Touch(h)
		m.Erase(m.HandleAt(r.IntN(m.Len())))
		maptest.Insert(t, m, r.Uint64N(n))
		c, k, _ := step(t, m, budget)
		work += c + k
	}
	left, _ := finish(t, m, 0)
	if late := 200 * 3 * 2 * bits.Len(n); left > late {
		t.Errorf("%d comparisons are left after %d frames that spent %d", left, frames, work)
	}
}

func attempt(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	<-done
}

func TestDefragment_PanicKeepsWork(t *testing.T) {
	m, _ := large(t, 300)
	values := map[number]uint64{}
	for h, v := range m.All() {
		values[h] = *v
	}
	spent := 0
	for round := 0; ; round++ {
		if round > 10_000 {
			t.Fatal("no end")
		}
		left := round % 7
		done := false
		exit := func() { panic("no") }
		if round%2 == 0 {
			exit = runtime.Goexit
		}
		attempt(func() {
			_, done = m.Defragment(func(a, b *uint64) int {
				if left--; left < 0 {
					exit()
				}
				spent++
				return ascend(a, b)
			}, 20)
		})
		maptest.Verify(t, m)
		if done {
			break
		}
	}
	if spent > 300*12 {
		t.Errorf("%d comparisons", spent)
	}
	maptest.PanicOf(func() { m.Defragment(nil, 0); m.Defragment(func(a, b *uint64) int { panic("no") }, 0) })
	finish(t, m, 0)
	for h, want := range values {
		if *m.At(h) != want {
			t.Fatalf("%v names %d, not %d", h, *m.At(h), want)
		}
	}
}

func TestDefragment_InconsistentComparison(t *testing.T) {
	m, r := large(t, 500)
	hs, items := slices.Collect(maps.Keys(maps.Collect(m.All()))), []uint64(nil)
	for _, h := range hs {
		items = append(items, *m.At(h))
	}
	for range 2000 {
		m.Defragment(func(a, b *uint64) int { return r.IntN(3) - 1 }, r.IntN(100))
		if r.IntN(3) == 0 {
			m.Touch(hs[r.IntN(len(hs))])
		}
	}
	m.SortFunc(func(a, b *uint64) int { return r.IntN(3) - 1 })
	maptest.Verify(t, m)
	expectValues(t, m, hs, items)
}
