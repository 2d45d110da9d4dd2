package suite

import (
	"runtime"

	"handloom/bench/internal/measure"
)

// memory returns the cases of the bytes per item that are held beyond the item
// itself: with room made beforehand, and after growth to n items.
func (s set[T]) memory() (cases []measure.Case) {
	for _, impl := range containers[T]() {
		for _, how := range []struct {
			op      string
			reserve bool
		}{{"memory", false}, {"memoryreserved", true}} {
			c := s.newCase(how.op, impl.name, func() *measure.Work {
				return &measure.Work{Measure: func() float64 { return s.bytesPerItem(impl, how.reserve) }}
			})
			c.Unit = "B/item"
			cases = append(cases, c)
		}
	}
	return append(cases, s.ownMemory("memory.own", false), s.ownMemory("memoryreserved.own", true))
}

// ownMemory is a case of what the packed map says of itself: the arrays, to the
// byte, and not what the allocator rounds them up to.
func (s set[T]) ownMemory(op string, reserve bool) measure.Case {
	c := s.newCase(op, "handlemap", func() *measure.Work {
		return &measure.Work{Measure: func() float64 {
			c := &packed[T]{load: s.load()}
			c.fresh(reserve)
			c.insert()
			return float64(c.m.Stats().Bytes)/float64(s.n) - float64(sizeOf[T]())
		}}
	})
	c.Unit = "B/item"
	return c
}

// bytesPerItem asks the heap before and after.
func (s set[T]) bytesPerItem(impl implementation[T], reserve bool) float64 {
	c := impl.make(s.load())
	c.fresh(reserve)
	c.insert()
	with := heapInUse()
	c.fresh(false)
	without := heapInUse()
	runtime.KeepAlive(c)
	return float64(with-without)/float64(s.n) - float64(sizeOf[T]())
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found is freed by the second one at the latest
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
