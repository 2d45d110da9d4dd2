package suite

import (
	"runtime"
	"slices"
	"time"

	"handloom/bench/internal/measure"
)

// collector returns the cases of a full collection while n items live.
func (s set[T]) collector() (cases []measure.Case) {
	for _, impl := range containers[T]() {
		cases = append(cases, s.collection(impl.name, func() any {
			c := impl.make(s.load())
			fill(c)
			return c
		}))
	}
	return append(cases,
		s.collection("table", func() any { return newFullTable[T](s.n) }),
		s.collection("syncmap", func() any { return newSyncMap(s.n) }),
	)
}

// collection is a case that holds what build returns while it collects, 3 times.
// Only one may be held at a time, for the collector walks all of the heap.
func (s set[T]) collection(impl string, build func() any) measure.Case {
	c := s.newCase("gc", impl, func() *measure.Work {
		return &measure.Work{Measure: func() float64 {
			held := build()
			runtime.GC() // what making it left behind
			took := collections(3)
			runtime.KeepAlive(held)
			return took
		}}
	})
	c.Unit = "ms/gc"
	return c
}

// collections returns the median milliseconds of n collections.
func collections(n int) float64 {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		runtime.GC()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return float64(took[n/2].Microseconds()) / 1000
}
