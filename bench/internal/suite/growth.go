package suite

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"handloom/bench/internal/measure"
	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
)

// growth returns the cases of the slowest single insert while a map grows to n
// items.
func growth(s set[item8]) []measure.Case {
	return []measure.Case{
		longest(s, "handlemap", func() (insert func(item8), full func() bool) {
			m := new(handlemap.Map[item8])
			return func(v item8) { _, _ = m.Insert(v) }, func() bool { return m.Len() == m.Cap() }
		}),
		longest(s, "slotmap", func() (insert func(item8), full func() bool) {
			m := new(slotmap.Map[item8])
			return func(v item8) { _, _ = m.Insert(v) }, func() bool { return m.Rows() == m.Cap() }
		}),
	}
}

// longest times only inserts that allocate, and takes the median of each over
// several growths, to exclude the scheduler. The collector is off.
func longest(s set[item8], impl string, newMap func() (insert func(item8), full func() bool)) measure.Case {
	const repeats = 5
	return s.measured("growth", impl, "ns/longest", func() float64 {
		var took [][]time.Duration // by allocating insert, then by repeat
		for range repeats {
			insert, full := newMap()
			for i, d := range growths(s.n, insert, full) {
				if i == len(took) {
					took = append(took, nil)
				}
				took[i] = append(took[i], d)
			}
		}
		var longest time.Duration
		for _, repeats := range took {
			slices.Sort(repeats)
			longest = max(longest, repeats[len(repeats)/2])
		}
		return float64(longest.Nanoseconds())
	})
}

func growths[T item](n int, insert func(T), full func() bool) (took []time.Duration) {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range n {
		v := itemOf[T](uint64(i))
		if !full() {
			insert(v)
			continue
		}
		began := time.Now()
		insert(v)
		took = append(took, time.Since(began))
	}
	return took
}
