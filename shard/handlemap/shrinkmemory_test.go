package handlemap_test

import (
	"runtime"
	"testing"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/shard/handlemap"
)

func TestShrink_ReleasesScratch(t *testing.T) {
	const n = 1 << 18
	heap := func() int {
		runtime.GC()
		runtime.GC() // the second frees pools
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int(stats.HeapAlloc)
	}
	descend := func(a, b *uint64) int { return ascend(b, a) }
	for name, use := range map[string]func(m *handlemap.Map[uint64]){
		"SortFunc":   func(m *handlemap.Map[uint64]) { m.SortFunc(descend) },
		"SortByKey":  func(m *handlemap.Map[uint64]) { m.SortByKey(func(v *uint64) uint64 { return ^*v }) },
		"Defragment": func(m *handlemap.Map[uint64]) { m.Defragment(descend, 0) },
		"Partition":  func(m *handlemap.Map[uint64]) { m.Partition(func(v *uint64) bool { return *v%2 == 0 }) },
	} {
		m := newMap[uint64](t, handle.Options{})
		m.EmplaceItems(n, func(i int, _ number, v *uint64) { *v = uint64(i) }, nil)
		m.Shrink()
		before := heap()
		use(m)
		used := heap()
		m.Shrink()
		if released := func() bool { return heap()-before <= n }; used-before < 4*n || !check.Collected(released) {
			t.Errorf("%s: %d bytes per item more while it is kept, %.2f after Shrink", name, (used-before)/n, float64(heap()-before)/n)
		}
		runtime.KeepAlive(m)
	}
}
