package bench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/shard/handlemap"
)

// BenchmarkOrder puts shuffled items in order. The raw slice has no handles to
// keep, and its cmp is given copies, as [slices.SortFunc] has it.
func BenchmarkOrder(b *testing.B) {
	for _, n := range sizes {
		order[small](b, n, 8)
		order[large](b, n, 64)
	}
}

func order[T value](b *testing.B, n, size int) {
	vs := values[T](n)
	rand.New(rand.NewPCG(3, 4)).Shuffle(n, func(i, j int) { vs[i], vs[j] = vs[j], vs[i] })
	raw := make([]T, n)
	m, _ := handlemap.New[T](handlemap.Options{Reserve: n})
	hs, _ := m.InsertItems(vs, nil)
	shuffle := func() { // back to rows in the order of slots, keys in none
		m.SortAs(hs)
		copy(m.Items(), vs)
	}

	each(b, "sort", "slices.SortFunc", n, size, func() { copy(raw, vs) }, func() { slices.SortFunc(raw, byValue[T]) })
	each(b, "sort", "slices.SortStableFunc", n, size, func() { copy(raw, vs) }, func() { slices.SortStableFunc(raw, byValue[T]) })
	each(b, "sort", "SortFunc", n, size, shuffle, func() { m.SortFunc(byItem[T]) })
	each(b, "sort", "SortByKey", n, size, shuffle, func() { m.SortByKey(first[T]) })
	each(b, "sort", "Defragment", n, size,
		func() { shuffle(); m.Defragment(nil, 0) }, func() { m.Defragment(byItem[T], 0) })
	each(b, "sort", "Defragment/budget=1000", n, size,
		func() { shuffle(); m.Defragment(nil, 0) }, func() { inFrames(m, 1000) })
	for _, budget := range []int{0, 1000} {
		defragment(b, m, n, size, budget)
	}
}

// defragment changes 0.1 % of the items, reports it and lets the order be
// restored.
func defragment[T value](b *testing.B, m *handlemap.Map[T], n, size, budget int) {
	r := rand.New(rand.NewPCG(5, 6))
	m.Defragment(byItem[T], 0)
	change := func() {
		for range n / 1000 {
			row := r.IntN(n)
			m.Items()[row] = make1[T](r.IntN(n))
			m.Touch(m.HandleAt(row))
		}
	}
	impl := fmt.Sprintf("Defragment/budget=%d", budget)
	each(b, "defragment", impl, n, size, change, func() { inFrames(m, budget) })
}

func inFrames[T value](m *handlemap.Map[T], budget int) {
	for done := false; !done; {
		_, done = m.Defragment(byItem[T], budget)
	}
}

func byValue[T any](a, b T) int { return cmp.Compare(first(&a), first(&b)) }

func byItem[T any](a, b *T) int { return cmp.Compare(first(a), first(b)) }

// The comparisons do not depend on the machine: all calls together must take no
// more than 5 % of those of a full sort.
func TestDefragmentComparesLittleAfterFewChanges(t *testing.T) {
	const n = 100_000
	vs := values[small](n)
	r := rand.New(rand.NewPCG(3, 4))
	r.Shuffle(n, func(i, j int) { vs[i], vs[j] = vs[j], vs[i] })
	full := 0
	slices.SortFunc(slices.Clone(vs), func(a, b small) int { full++; return byValue(a, b) })

	var m handlemap.Map[small]
	m.InsertItems(vs, nil)
	first := 0
	m.Defragment(func(a, b *small) int { first++; return byItem(a, b) }, 0)
	for range n / 1000 {
		row := r.IntN(n)
		m.Items()[row] = small{uint64(r.IntN(n))}
		m.Touch(m.HandleAt(row))
	}
	again := 0
	for done := false; !done; {
		_, done = m.Defragment(func(a, b *small) int { again++; return byItem(a, b) }, 1000)
	}
	t.Logf("comparisons: slices.SortFunc %d, first Defragment %d, after %d changes %d", full, first, n/1000, again)
	if again*20 > full {
		t.Errorf("%d comparisons after %d changes, but %d for the full sort", again, n/1000, full)
	}
}
