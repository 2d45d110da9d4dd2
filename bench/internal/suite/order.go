package suite

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"handloom/bench/internal/measure"
	"handloom/handle"
	"handloom/shard/handlemap"
)

const budget = 1000

// sorts returns the cases of sorting shuffled items, and of restoring the order
// after one item in a thousand has changed.
func (s full[T]) sorts() []measure.Case {
	return []measure.Case{
		s.sort("handlemap.SortFunc", func(m *handlemap.Map[T]) { m.SortFunc(byItem[T]) }),
		s.sort("handlemap.SortByKey", func(m *handlemap.Map[T]) { m.SortByKey(keyOf[T]) }),
		s.newCase("sort", "slices.SortFunc", func() *measure.Work {
			shuffled := s.shuffled()
			raw := slices.Clone(shuffled)
			return &measure.Work{
				Items:   s.n,
				Prepare: func() { copy(raw, shuffled) },
				Body:    func() { slices.SortFunc(raw, byValue[T]) },
				Count:   func() int { return ordered(raw) },
			}
		}),
		s.restore("handlemap.Defragment.1000", func(m *handlemap.Map[T]) { inFrames(m, byItem[T]) }),
	}
}

func (s full[T]) sort(impl string, f func(*handlemap.Map[T])) measure.Case {
	return s.newCase("sort", impl, func() *measure.Work {
		m := newShuffled(s.shuffled())
		return &measure.Work{Items: s.n, Prepare: m.restore, Body: func() { f(m.Map) }, Count: func() int { return ordered(m.Items()) }}
	})
}

func (s full[T]) restore(impl string, f func(*handlemap.Map[T])) measure.Case {
	c := s.newCase("defragment", impl, func() *measure.Work {
		m := newShuffled(s.shuffled())
		m.Defragment(byItem[T], 0)
		r := s.random()
		return &measure.Work{Items: s.n, Prepare: func() { changeKeys(m.Map, r) }, Body: func() { f(m.Map) }, Count: func() int { return ordered(m.Items()) }}
	})
	c.With = "sort"
	return c
}

func changes(n int) int { return max(1, n/1000) }

func changeKeys[T item](m *handlemap.Map[T], r *rand.Rand) {
	n := m.Len()
	for range changes(n) {
		row := r.IntN(n)
		m.Items()[row] = itemOf[T](r.Uint64N(uint64(n)))
		m.Touch(m.HandleAt(row))
	}
}

func (s full[T]) shuffled() []T {
	vs := values[T](s.n)
	s.random().Shuffle(s.n, func(i, j int) { vs[i], vs[j] = vs[j], vs[i] })
	return vs
}

type shuffledMap[T item] struct {
	*handlemap.Map[T]
	values  []T
	handles []handle.Of[T]
}

func newShuffled[T item](vs []T) *shuffledMap[T] {
	m := must(handlemap.New[T](handle.Options{Reserve: len(vs)}))
	return &shuffledMap[T]{m, vs, must(m.InsertItems(vs, nil))}
}

func (m *shuffledMap[T]) restore() {
	m.SortAs(m.handles)
	copy(m.Items(), m.values)
	m.Defragment(nil, 0)
}

func inFrames[T item](m *handlemap.Map[T], cmp func(a, b *T) int) {
	for done := false; !done; {
		_, done = m.Defragment(cmp, budget)
	}
}

func ordered[T item](items []T) int {
	n := len(items)
	for i := 1; i < len(items); i++ {
		if *first(&items[i]) < *first(&items[i-1]) {
			n--
		}
	}
	return n
}

func byValue[T item](a, b T) int { return cmp.Compare(*first(&a), *first(&b)) }

func byItem[T item](a, b *T) int { return cmp.Compare(*first(a), *first(b)) }

func keyOf[T item](v *T) uint64 { return *first(v) }

func pointersTo[T item](vs []T) []*T {
	ps := make([]*T, len(vs))
	for i, v := range vs {
		ps[i] = &v
	}
	return ps
}
