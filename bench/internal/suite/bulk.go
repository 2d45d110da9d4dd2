package suite

import (
	"slices"

	"handloom/bench/internal/measure"
)

type bulkContainer interface {
	container
	insertItems()
	len() int
}

// bulk returns the cases of bulk operations, against single operations and
// loops by hand.
func (s full[T]) bulk() (cases []measure.Case) {
	for _, impl := range containers[T]()[:3] {
		made := func() bulkContainer { return impl.make(s.load()).(bulkContainer) }
		inserts := func(op string, prepare func(container)) {
			cases = append(cases, s.newCase(op, impl.name, func() *measure.Work {
				c := made()
				fill(c)
				return &measure.Work{Items: s.n, Prepare: func() { prepare(c) }, Body: c.insertItems, Count: c.len}
			}))
		}
		if impl.name != "straight" { // see bulkLoop
			inserts("insertitems", container.clear)
		}
		inserts("refillitems", eraseAtRandom)
	}
	return append(
		cases,
		s.newCase("insertitems", "straight", func() *measure.Work {
			l := newBulkLoop(s.load())
			return &measure.Work{Items: s.n, Body: l.fill, Count: func() int { return len(l.items) }}
		}),
		s.newCase("clear", "words", func() *measure.Work {
			c := &byHand[T]{load: s.load()}
			return &measure.Work{Items: s.n, Prepare: func() { fill(c) }, Body: func() { c.m.clearWords() }}
		}),
		s.newCase("digest", "handlemap", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Body: func() { sink += c.m.Digest() }}
		}),
		s.newCase("digest", "slotmap", func() *measure.Work {
			c := &stable[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Body: func() { sink += c.m.Digest() }}
		}),
		s.newCase("iterate", "handlemap.All", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Body: c.iterateAll}
		}),
	)
}

type bulkLoop[T item] struct {
	load[T]
	items  []T
	meta   []uint32
	sparse []uint64
	names  []uint64
}

func newBulkLoop[T item](l load[T]) *bulkLoop[T] {
	n := len(l.values)
	return &bulkLoop[T]{
		load: l, items: make([]T, 0, n), meta: make([]uint32, 0, n),
		sparse: make([]uint64, 0, n), names: make([]uint64, 0, n),
	}
}

func (l *bulkLoop[T]) fill() {
	n := len(l.values)
	l.items = append(l.items[:0], l.values...)
	meta := slices.Grow(l.meta[:0], n)[:n]
	sparse := slices.Grow(l.sparse[:0], n)[:n]
	names := slices.Grow(l.names[:0], n)[:n]
	for i := range meta {
		meta[i] = uint32(i)
		sparse[i] = 1<<32 | uint64(i)
		names[i] = 1<<32 | uint64(i)
	}
}
