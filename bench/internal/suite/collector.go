package suite

import (
	"runtime"
	"slices"
	"time"

	"handloom/bench/internal/measure"
)

// collector returns the cases of a full collection with n live items. The
// collector scans the whole heap, so only one case may be open.
func collector(s set[item8]) (cases []measure.Case) {
	held := func(impl string, build func() any) {
		cases = append(cases, s.measured("gc", impl, "ms/gc", func() float64 {
			held := build()
			runtime.GC() // garbage of build
			took := collections(3)
			runtime.KeepAlive(held)
			return took
		}))
	}
	for _, impl := range containers[item8]() {
		held(impl.name, func() any {
			c := impl.make(s.load())
			fill(c)
			return c
		})
	}
	held("pointers", func() any { return pointersTo(values[item8](s.n)) })
	held("mapofpointers", func() any {
		m := make(map[uint64]*item8)
		for key, p := range pointersTo(values[item8](s.n)) {
			m[uint64(key)] = p
		}
		return m
	})
	held("table", func() any { return newFullTable[item8](s.n, shards, nil) })
	return cases
}

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
