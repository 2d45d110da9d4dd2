package slotmap_test

import (
	"testing"

	"handloom/proof/maptest"

	"handloom/handle"
	"handloom/shard/slotmap"
)

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
