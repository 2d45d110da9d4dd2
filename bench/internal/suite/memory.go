package suite

import (
	"fmt"
	"runtime"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// memory returns the cases of the bytes per item beyond the item itself, in the
// heap. Cases with own count the arrays that the packed map reports, which the
// allocator rounds up.
func (s full[T]) memory() (cases []measure.Case) {
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

// tableHeap returns the case of the heap of a table with n items and one shard.
func tableHeap(s set[item8]) []measure.Case {
	return []measure.Case{s.measured("tableheap", "table", "B/table", func() float64 {
		st := newStore(1)
		register := func(name int) {
			emplace(st, store.Register(st, store.TableOptions[item8]{Name: fmt.Sprint(name)}), values[item8](s.n))
		}
		register(tables64)
		before := heapInUse()
		for name := range tables64 {
			register(name)
		}
		after := heapInUse()
		runtime.KeepAlive(st)
		return float64(after-before) / tables64
	})}
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection frees what the first found
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
