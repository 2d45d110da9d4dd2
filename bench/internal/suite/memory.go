package suite

import (
	"runtime"

	"handloom/bench/internal/measure"
)

// memory returns the cases of the bytes per item beyond the item itself, in the
// heap. Cases with own count the arrays that the packed map reports, which the
// allocator rounds up.
func (s set[T]) memory() (cases []measure.Case) {
	beyond := func(bytes int64) float64 { return float64(bytes)/float64(s.n) - float64(sizeOf[T]()) }
	for _, impl := range containers[T]() {
		cases = append(cases, s.measured("memory", impl.name, "B/item", func() float64 {
			c := impl.make(s.load())
			c.fresh(false)
			c.insert()
			with := heapInUse()
			c.fresh(false)
			without := heapInUse()
			runtime.KeepAlive(c)
			return beyond(with - without)
		}))
	}
	own := func(op string, reserve bool) measure.Case {
		return s.measured(op, "handlemap", "B/item", func() float64 {
			c := &packed[T]{load: s.load()}
			c.fresh(reserve)
			c.insert()
			return beyond(c.m.Stats().Bytes)
		})
	}
	return append(cases, own("memory.own", false), own("memoryreserved.own", true))
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection frees what the first found
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
