package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"
	"unsafe"

	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
)

// BenchmarkGrowth measures the longest single insert while a map grows to
// 10,000,000 items. Only inserts that make memory are timed, and each counts
// with its median of several rounds, for which they are the same; else the
// longest is what the scheduler did. The collector does not run meanwhile.
func BenchmarkGrowth(b *testing.B) {
	growth(b, "handlemap", func() (insert func(small), full func() bool) {
		m := new(handlemap.Map[small])
		return func(v small) { _, _ = m.Insert(v) }, func() bool { return m.Len() == m.Cap() }
	})
	growth(b, "slotmap", func() (insert func(small), full func() bool) {
		m := new(slotmap.Map[small])
		return func(v small) { _, _ = m.Insert(v) }, func() bool { return m.Rows() == m.Cap() }
	})
}

func growth(b *testing.B, impl string, newMap func() (insert func(small), full func() bool)) {
	const n, rounds = 10_000_000, 7
	b.Run(fmt.Sprintf("op=growth/impl=%s/n=%d/size=8", impl, n), func(b *testing.B) {
		var took [][]time.Duration // by growth, then by round
		for b.Loop() {
			for range rounds {
				insert, full := newMap()
				for i, d := range growths(n, insert, full) {
					if i == len(took) {
						took = append(took, nil)
					}
					took[i] = append(took[i], d)
				}
			}
		}
		var longest time.Duration
		for _, rounds := range took {
			slices.Sort(rounds)
			longest = max(longest, rounds[len(rounds)/2])
		}
		b.ReportMetric(float64(longest.Nanoseconds()), "ns/longest")
	})
}

// growths returns how long each insert took that found the map full.
func growths(n int, insert func(small), full func() bool) (took []time.Duration) {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range n {
		if !full() {
			insert(small{uint64(i)})
			continue
		}
		began := time.Now()
		insert(small{uint64(i)})
		took = append(took, time.Since(began))
	}
	return took
}

// BenchmarkMemory measures the bytes per live item beyond the item: after
// Reserve, and after growth to a number of items just behind a growth and just
// before the next one.
func BenchmarkMemory(b *testing.B) {
	memory[small](b, 8)
	memory[large](b, 64)
}

func memory[T value](b *testing.B, size int) {
	report := func(impl, how string, n int, bytes func() (live int, bytes int64)) {
		b.Run(fmt.Sprintf("op=memory/impl=%s/how=%s/n=%d/size=%d", impl, how, n, size), func(b *testing.B) {
			for b.Loop() {
				live, total := bytes()
				var v T
				b.ReportMetric(float64(total)/float64(live)-float64(unsafe.Sizeof(v)), "B/item")
			}
		})
	}
	for _, n := range sizes {
		vs := values[T](n)
		report("handlemap", "reserve", n, func() (int, int64) {
			m, _ := handlemap.New[T](handlemap.Options{Reserve: n})
			insertAll(m, vs)
			return m.Len(), m.Stats().Bytes
		})
		report("handlemap", "growth", n, func() (int, int64) {
			var m handlemap.Map[T]
			insertAll(&m, vs)
			return m.Len(), m.Stats().Bytes
		})
		report("slotmap", "growth", n, func() (int, int64) {
			var m slotmap.Map[T]
			insertAllStable(&m, vs)
			return m.Len(), m.Stats().Bytes
		})
	}
}
