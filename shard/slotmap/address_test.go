package slotmap_test

import (
	"testing"

	"handloom/proof/maptest"

	"handloom/handle"
)

func TestShrink_ReleasesPages(t *testing.T) {
	const n = 100_000
	m := newMap[[8]uint64](t, handle.Options{TypeID: 2})
	hs, err := m.InsertItems(make([][8]uint64, n), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hs {
		m.At(h)[0] = uint64(i)
	}
	kept := []handle.Of[[8]uint64]{hs[0], hs[n/2], hs[n-1]}
	addresses := []*[8]uint64{m.At(kept[0]), m.At(kept[1]), m.At(kept[2])}
	full := m.Stats().Bytes
	m.EraseFunc(func(h handle.Of[[8]uint64], _ *[8]uint64) bool {
		return h != kept[0] && h != kept[1] && h != kept[2]
	})
	before := m.Digest()
	m.Shrink()
	if bytes := m.Stats().Bytes; bytes > full/5 || bytes < n*8 {
		t.Errorf("%d of %d bytes left for 3 items and %d slots", bytes, full, n)
	}
	if m.Digest() != before || m.Rows() != n {
		t.Error("Shrink changed more than memory")
	}
	for i, h := range kept {
		if m.At(h) != addresses[i] {
			t.Errorf("%v moved", h)
		}
	}
	for _, h := range []handle.Of[[8]uint64]{hs[1], hs[n-2], {}, {ID: m.HandleAt(0).ID | handle.FreeBit}} {
		maptest.ExpectNothing(t, m, "on a page released or not", h)
	}
	maptest.Verify(t, m)

	// Pages come back when their slots are issued again.
	if m.Core().HasRoom(n - 3) {
		t.Error("HasRoom counts released pages")
	}
	m.Core().ReserveMore(n / 4)
	if !m.Core().HasRoom(n/4) || m.Core().HasRoom(n-3) || m.Stats().Bytes > full/2 {
		t.Errorf("%d bytes after ReserveMore of a quarter", m.Stats().Bytes)
	}
	maptest.Verify(t, m)
	for i := 1; i < n; i++ {
		if i == n/2 || i == n-1 {
			continue
		}
		if h := maptest.Insert(t, m, [8]uint64{uint64(i)}); int(h.ID.Slot()) != i || h.ID.Generation() != 2 {
			t.Fatalf("insert %d gives %v", i, h)
		}
		if i == n/3 {
			maptest.VerifyAtEnd(t, m.Clone()) // pages of both kinds
			m.Shrink()
		}
	}
	for h, v := range m.All() {
		if v[0] != uint64(h.ID.Slot()) {
			t.Fatalf("%v names item %d", h, v[0])
		}
	}
	if m.Stats().Bytes > full+4*n+1<<16 { // the freelist keeps its room
		t.Errorf("%d bytes, %d before", m.Stats().Bytes, full)
	}
}
