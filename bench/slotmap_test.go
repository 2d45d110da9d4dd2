package bench

import (
	"math/rand/v2"
	"testing"

	"handloom/shard/handle"
	"handloom/shard/handlemap"
	"handloom/shard/slotmap"
)

// BenchmarkStable measures the stable map against the packed one.
func BenchmarkStable(b *testing.B) {
	for _, n := range sizes {
		stable[small](b, n, 8)
		stable[large](b, n, 64)
	}
}

func stable[T value](b *testing.B, n, size int) {
	vs := values[T](n)
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	shuffled := make([]handle.Of[T], n)
	hs := make([]handle.Of[T], 0, n)

	var sm *slotmap.Map[T]
	var hm *handlemap.Map[T]
	reserve := func() { sm, _ = slotmap.New[T](slotmap.Options{Reserve: n}) }
	fill := func() {
		reserve()
		hm, _ = handlemap.New[T](handlemap.Options{Reserve: n})
		_, _ = hm.InsertItems(vs, nil)
		hs, _ = sm.InsertItems(vs, hs[:0]) // both issue the same handles
		for i, j := range order {
			shuffled[i] = hs[j]
		}
	}
	fill()
	each(b, "get", "slotmap", n, size, func() {}, func() { getAllStable(sm, shuffled) })
	each(b, "get", "handlemap", n, size, func() {}, func() { getAll(hm, shuffled) })
	each(b, "iterate", "slotmap", n, size, func() {}, func() { sumAllStable(sm) })
	each(b, "insert", "slotmap", n, size, reserve, func() { insertAllStable(sm, vs) })
	each(b, "create", "slotmap", n, size, func() { sm = new(slotmap.Map[T]) }, func() { insertAllStable(sm, vs) })
	each(b, "erase", "slotmap", n, size, fill, func() { eraseAllStable(sm, shuffled) })
	each(b, "refill", "slotmap", n, size, func() { fill(); sm.Clear() }, func() { insertAllStable(sm, vs) })
	each(b, "erasehalf", "slotmap", n, size, fill, func() { sm.EraseItems(shuffled[:n/2]) })
	each(b, "insertitems", "slotmap", n, size, func() { sm.Clear() }, func() { hs, _ = sm.InsertItems(vs, hs[:0]) })
	each(b, "clear", "slotmap", n, size, fill, func() { sm.Clear() })
}

func insertAllStable[T any](m *slotmap.Map[T], vs []T) {
	for _, v := range vs {
		h, _ := m.Insert(v)
		sink += uint64(h.ID)
	}
}

func sumAllStable[T value](m *slotmap.Map[T]) {
	var sum uint64
	for h, v := range m.All() {
		sum += first(v) + uint64(h.ID)
	}
	sink += sum
}

func getAllStable[T value](m *slotmap.Map[T], hs []handle.Of[T]) {
	var sum uint64
	for _, h := range hs {
		if v, ok := m.Get(h); ok {
			sum += first(v)
		}
	}
	sink += sum
}

func eraseAllStable[T any](m *slotmap.Map[T], hs []handle.Of[T]) {
	for _, h := range hs {
		m.Erase(h)
	}
}
