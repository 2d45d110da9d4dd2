package slotmap_test

import (
	"math/rand/v2"
	"testing"

	"handloom/proof/maptest"

	"handloom/shard/handle"
)

func TestMap_KeepsAddresses(t *testing.T) {
	t.Run("item=number", addressesNeverChange(numberOf, 100_000))
	t.Run("item=page", addressesNeverChange(pageOf, 2_000)) // few items per page
}

func numberOf(v uint64) uint64     { return v }
func pageOf(v uint64) maptest.Page { return maptest.Page{0: v, 511: v} }

func addressesNeverChange[T any](item func(uint64) T, steps int) func(*testing.T) {
	return func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		m := newMap[T](t, handle.Options{TypeID: 3})
		addresses := map[handle.Of[T]]*T{}
		var live []handle.Of[T]
		check := func() {
			t.Helper()
			visited := 0
			for h, v := range m.All() {
				if visited++; addresses[h] != v {
					t.Fatalf("%v lies at %p, not at %p", h, v, addresses[h])
				}
			}
			if visited != len(live) || m.Len() != len(live) {
				t.Fatalf("%d items visited, length %d, want %d", visited, m.Len(), len(live))
			}
		}
		for step := range steps {
			// More inserts than erases at first, then the reverse.
			if grow := random.IntN(100) < 80-step*60/steps; grow || len(live) == 0 {
				h := maptest.Insert(t, m, item(uint64(step)))
				addresses[h], live = m.At(h), append(live, h)
			} else {
				i := random.IntN(len(live))
				h := live[i]
				if m.At(h) != addresses[h] || !m.Erase(h) {
					t.Fatalf("%v moved before its erase", h)
				}
				delete(addresses, h)
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			}
			if step%(steps/20) == 0 {
				m.Shrink() // moves nothing
				check()
				maptest.Verify(t, m)
			}
		}
		m.Reserve(2 * m.Rows())
		check()
	}
}

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

func TestInsert_MakesOnePage(t *testing.T) {
	m := newMap[uint64](t, handle.Options{})
	bytes := m.Stats().Bytes
	for range 100_000 {
		maptest.Insert(t, m, 1)
		if b := m.Stats().Bytes; b-bytes > 50_000 {
			t.Fatalf("an insert made %d bytes", b-bytes)
		} else {
			bytes = b
		}
	}
}
