package suite

import (
	"slices"

	"handloom/bench/internal/measure"
)

// bulk returns the cases of the operations that take many items in one call,
// against the same one by one and by hand.
func (s set[T]) bulk() []measure.Case {
	half := s.n / 2
	return []measure.Case{
		s.newCase("insertitems", "handlemap", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Prepare: c.clear, Body: c.insertItems, Count: func() int { return c.m.Len() }}
		}),
		s.newCase("insertitems", "slotmap", func() *measure.Work {
			c := &stable[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Prepare: c.clear, Body: c.insertItems, Count: func() int { return c.m.Len() }}
		}),
		s.newCase("insertitems", "straight", func() *measure.Work {
			l := newBulkLoop(s.load())
			return &measure.Work{Items: s.n, Body: l.fill, Count: func() int { return len(l.items) }}
		}),
		s.newCase("eraseitems", "handlemap", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			return &measure.Work{Items: half, Prepare: func() { fill(c) }, Body: func() { c.m.EraseItems(c.shuffled[:half]) }, Count: func() int { return s.n - c.m.Len() }}
		}),
		s.newCase("eraseitems", "handlemap.Erase", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			return &measure.Work{Items: half, Prepare: func() { fill(c) }, Body: func() { c.eraseOneByOne(c.shuffled[:half]) }, Count: func() int { return s.n - c.m.Len() }}
		}),
		s.newCase("eraseitems", "slotmap", func() *measure.Work {
			c := &stable[T]{load: s.load()}
			return &measure.Work{Items: half, Prepare: func() { fill(c) }, Body: func() { c.m.EraseItems(c.shuffled[:half]) }, Count: func() int { return s.n - c.m.Len() }}
		}),
		s.newCase("eraseitems", "straight", func() *measure.Work {
			c := &byHand[T]{load: s.load()}
			return &measure.Work{Items: half, Prepare: func() { fill(c) }, Body: func() { c.eraseOneByOne(c.shuffled[:half]) }, Count: func() int { return s.n - len(c.m.items) }}
		}),
		s.newCase("refillitems", "handlemap", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Prepare: func() { eraseAtRandom(c) }, Body: c.insertItems, Count: func() int { return c.m.Len() }}
		}),
		s.newCase("refillitems", "slotmap", func() *measure.Work {
			c := &stable[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Prepare: func() { eraseAtRandom(c) }, Body: c.insertItems, Count: func() int { return c.m.Len() }}
		}),
		s.newCase("refillitems", "straight", func() *measure.Work {
			c := &byHand[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Prepare: func() { eraseAtRandom(c) }, Body: c.insertItems, Count: func() int { return len(c.m.items) }}
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
		s.newCase("digest", "handlemap.halfvacant", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			fill(c)
			c.m.EraseItems(c.shuffled[:half])
			return &measure.Work{Items: s.n, Body: func() { sink += c.m.Digest() }}
		}),
		s.newCase("iterate", "handlemap.All", func() *measure.Work {
			c := &packed[T]{load: s.load()}
			fill(c)
			return &measure.Work{Items: s.n, Body: c.iterateAll}
		}),
	}
}

// bulkLoop is the loop that InsertItems is measured against: append the items,
// fill meta and sparse set, give out the names.
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
