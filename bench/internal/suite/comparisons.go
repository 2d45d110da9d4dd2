package suite

import "handloom/bench/internal/measure"

// comparisons returns the cases that count the comparisons of sorts. For
// Defragment they count all calls that restore the order after one item in a
// thousand has changed.
func (s full[T]) comparisons() []measure.Case {
	counted := func(impl string, count func() int) measure.Case {
		return s.measured("comparisons", impl, "cmp/item", func() float64 { return float64(count()) / float64(s.n) })
	}
	return []measure.Case{
		counted("handlemap.SortFunc", func() (n int) {
			newShuffled(s.shuffled()).SortFunc(func(a, b *T) int { n++; return byItem(a, b) })
			return n
		}),
		counted("handlemap.Defragment.1000", func() (n int) {
			m := newShuffled(s.shuffled())
			m.Defragment(byItem[T], 0)
			changeKeys(m.Map, s.random())
			inFrames(m.Map, func(a, b *T) int { n++; return byItem(a, b) })
			return n
		}),
	}
}
