package bench

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
)

// BenchmarkCollector measures a full collection with 5M live items of 8 bytes,
// by the median: the packed map against what the collector has to walk (P15).
func BenchmarkCollector(b *testing.B) {
	const n = 5_000_000
	vs := values[small](n)
	holders := []struct {
		impl string
		fill func() any
	}{
		{"handlemap", func() any {
			m, _ := handlemap.New[small](handlemap.Options{Reserve: n})
			_, _ = m.InsertItems(vs, nil)
			return m
		}},
		{"slotmap", func() any {
			m, _ := slotmap.New[small](slotmap.Options{Reserve: n})
			_, _ = m.InsertItems(vs, nil)
			return m
		}},
		{"slice", func() any { return slices.Clone(vs) }},
		{"map", func() any {
			m := make(map[uint64]small, n)
			for i, v := range vs {
				m[uint64(i)] = v
			}
			return m
		}},
		{"pointers", func() any {
			m := make([]*small, n)
			for i, v := range vs {
				m[i] = &small{v.v}
			}
			return m
		}},
		{"mapofpointers", func() any {
			m := make(map[uint64]*small, n)
			for i, v := range vs {
				m[uint64(i)] = &small{v.v}
			}
			return m
		}},
	}
	for _, h := range holders {
		b.Run(fmt.Sprintf("op=gc/impl=%s/n=%d/size=8", h.impl, n), func(b *testing.B) {
			held := h.fill()
			runtime.GC() // what filling left behind
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				runtime.GC()
				took = append(took, time.Since(begin))
			}
			runtime.KeepAlive(held)
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/gc")
		})
	}
}
