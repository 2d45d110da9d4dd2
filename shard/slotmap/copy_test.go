package slotmap_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"handloom/proof/maptest"

	"handloom/shard/handle"
	"handloom/shard/slotmap"
)

func TestCopyTo_BackKeepsAddresses(t *testing.T) {
	t.Run("item=number", copyingBackKeepsAddresses(numberOf, 5_000))
	t.Run("item=page", copyingBackKeepsAddresses(pageOf, 200))
}

func copyingBackKeepsAddresses[T any](item func(uint64) T, n int) func(*testing.T) {
	return func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		m := newMap[T](t, handle.Options{})
		var c slotmap.Map[T]
		for round := range 20 {
			addresses := maps.Collect(m.All())
			m.CopyTo(&c, nil)
			maptest.Verify(t, &c)
			before := m.Digest()
			for i := range r.IntN(n) {
				maptest.Insert(t, m, item(uint64(i)))
			}
			m.EraseFunc(func(h handle.Of[T], _ *T) bool { return r.IntN(10) > round%10 })
			clone := func(dst, src *T) { *dst = *src }
			if round%2 == 0 {
				clone = nil
			}
			c.CopyTo(m, clone)
			maptest.Verify(t, m)
			if m.Digest() != before || m.Len() != len(addresses) {
				t.Fatal("the map copied back differs")
			}
			for h, v := range m.All() {
				if addresses[h] != v {
					t.Fatalf("%v was at %p and is at %p", h, addresses[h], v)
				}
			}
			for i := range r.IntN(n) {
				maptest.Insert(t, m, item(uint64(i)))
			}
		}
	}
}

// Released pages in either map, and slots that only one has.
func TestCopyTo_ShrunkMaps(t *testing.T) {
	fill := func(n int, gone func(slot uint32) bool, shrink bool) *slotmap.Map[maptest.Page] {
		m := newMap[maptest.Page](t, handle.Options{})
		m.EmplaceItems(n, func(i int, _ handle.Of[maptest.Page], v *maptest.Page) { v[0] = uint64(i) }, nil)
		m.EraseFunc(func(h handle.Of[maptest.Page], _ *maptest.Page) bool { return gone(h.ID.Slot()) })
		if shrink {
			m.Shrink()
		}
		return m
	}
	never := func(uint32) bool { return false }
	var maps []func() *slotmap.Map[maptest.Page]
	for _, n := range []int{0, 10, 40} {
		for _, gone := range []func(uint32) bool{
			never,
			func(slot uint32) bool { return slot%16 < 8 },
			func(slot uint32) bool { return slot%16 >= 8 },
			func(slot uint32) bool { return slot != 3 },
			func(uint32) bool { return true },
		} {
			maps = append(maps,
				func() *slotmap.Map[maptest.Page] { return fill(n, gone, false) },
				func() *slotmap.Map[maptest.Page] { return fill(n, gone, true) })
		}
	}
	for from, a := range maps {
		for to, b := range maps {
			m, c := a(), b()
			var clone func(dst, src *maptest.Page)
			if (from+to)%2 == 0 {
				clone = func(dst, src *maptest.Page) { *dst = *src }
			}
			before := m.Digest()
			m.CopyTo(c, clone)
			maptest.Verify(t, c)
			if c.Digest() != before || m.Digest() != before {
				t.Fatalf("map %d copied over map %d differs", from, to)
			}
			c.Shrink()
			maptest.Verify(t, c)
			for range 50 {
				if x, y := maptest.Insert(t, m, maptest.Page{1}), maptest.Insert(t, c, maptest.Page{1}); x != y {
					t.Fatalf("map %d issues %v, its copy over map %d %v", from, x, to, y)
				}
			}
			maptest.Verify(t, c)
			if m.Digest() != c.Digest() {
				t.Fatalf("map %d and its copy over map %d evolve differently", from, to)
			}
		}
	}
}

func TestCopyTo_TakesMemoryOfItems(t *testing.T) {
	m := newMap[maptest.Page](t, handle.Options{Reserve: 1000})
	maptest.Insert(t, m, maptest.Page{})
	if bytes := m.Clone().Stats().Bytes; bytes > 40_000 {
		t.Errorf("%d bytes for one item", bytes)
	}
	hs, _ := m.InsertItems(make([]maptest.Page, 999), nil)
	m.EraseItems(hs)
	m.Shrink()
	var c slotmap.Map[maptest.Page]
	m.CopyTo(&c, nil)
	full := c.Stats().Bytes
	m.CopyTo(&c, nil)
	if c.Stats().Bytes != full {
		t.Error("a second copy takes more memory")
	}
}
