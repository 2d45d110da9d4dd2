package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// The items that the containers hold: 8 and 64 bytes.
type small struct{ v uint64 }

type large struct {
	v uint64
	_ [7]uint64
}

type value interface{ small | large }

var sizes = []int{100_000, 1_000_000}

func make1[T value](i int) T {
	var v T
	switch p := any(&v).(type) {
	case *small:
		p.v = uint64(i)
	case *large:
		p.v = uint64(i)
	}
	return v
}

func values[T value](n int) []T {
	vs := make([]T, n)
	for i := range vs {
		vs[i] = make1[T](i)
	}
	return vs
}

// each runs f once per iteration over n items and reports nanoseconds per item;
// setup is not timed.
func each(b *testing.B, op, impl string, n, size int, setup, f func()) {
	b.Run(fmt.Sprintf("op=%s/impl=%s/n=%d/size=%d", op, impl, n, size), func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			setup()
			b.StartTimer()
			f()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
	})
}

func BenchmarkContainers(b *testing.B) {
	for _, n := range sizes {
		containers[small](b, n, 8)
		containers[large](b, n, 64)
	}
}

func containers[T value](b *testing.B, n, size int) {
	vs := values[T](n)
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)

	var hm *handlemap.Map[T]
	hs := make([]handle.Of[T], 0, n)
	fill := func() {
		hm, _ = handlemap.New[T](handlemap.Options{Reserve: n})
		hs, _ = hm.InsertItems(vs, hs[:0])
	}
	var st *straight[T]
	ss := make([]uint64, n)
	fillStraight := func() {
		st = newStraight[T](n)
		for i, v := range vs {
			ss[i] = st.insert(v)
		}
	}
	var gm map[uint64]T
	fillMap := func() {
		gm = make(map[uint64]T, n)
		for i, v := range vs {
			gm[uint64(i)] = v
		}
	}
	shuffled := make([]handle.Of[T], n)
	shuffledStraight := make([]uint64, n)
	shuffle := func() {
		fill()
		for i, j := range order {
			shuffled[i] = hs[j]
		}
	}
	shuffleStraight := func() {
		fillStraight()
		for i, j := range order {
			shuffledStraight[i] = ss[j]
		}
	}

	each(b, "insert", "handlemap", n, size, func() { hm, _ = handlemap.New[T](handlemap.Options{Reserve: n}) }, func() { insertAll(hm, vs) })
	each(b, "insert", "straight", n, size, func() { st = newStraight[T](n) }, func() { insertAllStraight(st, vs) })
	each(b, "insert", "map", n, size, func() { gm = make(map[uint64]T, n) }, func() { insertAllMap(gm, vs) })

	each(b, "create", "handlemap", n, size, func() { hm = new(handlemap.Map[T]) }, func() { insertAll(hm, vs) })
	each(b, "create", "straight", n, size, func() { st = new(straight[T]) }, func() { insertAllStraight(st, vs) })

	clear := func() { fill(); hm.Clear() }
	each(b, "refill", "handlemap", n, size, clear, func() { insertAll(hm, vs) })

	warm, _ := handlemap.New[T](handlemap.Options{Reserve: n})
	each(b, "insertitems", "handlemap", n, size, func() { warm.Clear() }, func() { hs, _ = warm.InsertItems(vs, hs[:0]) })
	each(b, "insertitems", "byhand", n, size, func() { byHand(vs, ss) }, func() { byHand(vs, ss) })

	fill()
	fillStraight()
	fillMap()
	each(b, "iterate", "items", n, size, func() {}, func() { sumItems(hm.Items()) })
	each(b, "iterate", "all", n, size, func() {}, func() { sumAll(hm) })
	each(b, "iterate", "slice", n, size, func() {}, func() { sumItems(vs) })

	shuffle()
	shuffleStraight()
	each(b, "get", "handlemap", n, size, func() {}, func() { getAll(hm, shuffled) })
	each(b, "get", "straight", n, size, func() {}, func() { getAllStraight(st, shuffledStraight) })
	each(b, "get", "map", n, size, func() {}, func() { getAllMap(gm, order) })

	each(b, "erase", "handlemap", n, size, shuffle, func() { eraseAll(hm, shuffled) })
	each(b, "erase", "straight", n, size, shuffleStraight, func() { eraseAllStraight(st, shuffledStraight) })
	each(b, "erasehalf", "eraseitems", n, size, shuffle, func() { hm.EraseItems(shuffled[:n/2]) })
	each(b, "erasehalf", "onebyone", n, size, shuffle, func() { eraseAll(hm, shuffled[:n/2]) })
	each(b, "clear", "handlemap", n, size, fill, func() { hm.Clear() })
}

var sink uint64

func insertAll[T any](m *handlemap.Map[T], vs []T) {
	for _, v := range vs {
		h, _ := m.Insert(v)
		sink += uint64(h.ID)
	}
}

func insertAllStraight[T any](m *straight[T], vs []T) {
	for _, v := range vs {
		sink += m.insert(v)
	}
}

func insertAllMap[T any](m map[uint64]T, vs []T) {
	for i, v := range vs {
		m[uint64(i)] = v
	}
}

var hand struct {
	items  any
	meta   []uint32
	sparse []uint64
}

// byHand is the bulk loop that InsertItems is measured against: append the
// items, fill meta and sparse.
func byHand[T any](vs []T, handles []uint64) {
	items, ok := hand.items.(*[]T)
	if !ok || cap(*items) < len(vs) {
		items = new([]T)
		*items = make([]T, 0, len(vs))
		hand.items, hand.meta, hand.sparse = items, make([]uint32, len(vs)), make([]uint64, len(vs))
	}
	*items = append((*items)[:0], vs...)
	meta, sparse := hand.meta[:len(vs)], hand.sparse[:len(vs)]
	for i := range handles {
		meta[i] = uint32(i)
		sparse[i] = 1<<32 | uint64(i)
		handles[i] = 1<<32 | uint64(i)
	}
}

func sumItems[T value](items []T) {
	var sum uint64
	for i := range items {
		sum += first(&items[i])
	}
	sink += sum
}

func sumAll[T value](m *handlemap.Map[T]) {
	var sum uint64
	for h, v := range m.All() {
		sum += first(v) + uint64(h.ID)
	}
	sink += sum
}

func getAll[T value](m *handlemap.Map[T], hs []handle.Of[T]) {
	var sum uint64
	for _, h := range hs {
		if v, ok := m.Get(h); ok {
			sum += first(v)
		}
	}
	sink += sum
}

func getAllStraight[T value](m *straight[T], hs []uint64) {
	var sum uint64
	for _, h := range hs {
		if v, ok := m.get(h); ok {
			sum += first(v)
		}
	}
	sink += sum
}

func getAllMap[T value](m map[uint64]T, order []int) {
	var sum uint64
	for _, k := range order {
		if v, ok := m[uint64(k)]; ok {
			sum += first(&v)
		}
	}
	sink += sum
}

func eraseAll[T any](m *handlemap.Map[T], hs []handle.Of[T]) {
	for _, h := range hs {
		m.Erase(h)
	}
}

func eraseAllStraight[T any](m *straight[T], hs []uint64) {
	for _, h := range hs {
		m.erase(h)
	}
}
