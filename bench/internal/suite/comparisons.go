package suite

import (
	"slices"

	"handloom/bench/internal/measure"
)

// comparisons returns the cases that count how often a sort compares, which does
// not depend on the machine. Those of Defragment are of all calls together that
// restore the order after one item in a thousand has changed.
func (s set[T]) comparisons() []measure.Case {
	counted := func(impl string, count func() int) measure.Case {
		c := s.newCase("comparisons", impl, func() *measure.Work {
			return &measure.Work{Measure: func() float64 { return float64(count()) / float64(s.n) }}
		})
		c.Unit = "cmp/item"
		return c
	}
	return []measure.Case{
		counted("handlemap.SortFunc", func() (n int) {
			newShuffled(s.shuffled()).SortFunc(func(a, b *T) int { n++; return byItem(a, b) })
			return n
		}),
		counted("slices.SortFunc", func() (n int) {
			slices.SortFunc(s.shuffled(), func(a, b T) int { n++; return byValue(a, b) })
			return n
		}),
		counted("handlemap.Defragment.1000", func() (n int) {
			m := newShuffled(s.shuffled())
			m.Defragment(byItem[T], 0)
			disturb(m.Map, s.random())
			inFrames(m.Map, func(a, b *T) int { n++; return byItem(a, b) })
			return n
		}),
	}
}
