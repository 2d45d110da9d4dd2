package handlemap_test

import (
	"math/rand/v2"
	"testing"

	"handloom/handle"
	"handloom/proof/maptest"
)

// A flush relies on HasRoom. With MinFree, slot words can be missing where rows are not.
func TestHasRoom_PredictsGrowth(t *testing.T) {
	maptest.EachWidth(t, func(t *testing.T) {
		for _, minFree := range []int{0, 1, 3, 16} {
			random := rand.New(rand.NewPCG(uint64(minFree), 1))
			m := newMap[uint64](t, handle.Options{MinFree: minFree})
			rooms := map[bool]int{}
			for range 200 {
				n := random.IntN(4)
				if m.Core().CanInsert(n, 0, 0) != nil {
					m.Reset()
					continue
				}
				room, bytes := m.Core().HasRoom(n), m.Stats().Bytes
				hs := maptest.InsertN(t, m, n)
				if grown := m.Stats().Bytes != bytes; grown == room {
					t.Fatalf("MinFree %d: HasRoom(%d) is %t, and an array has grown: %t", minFree, n, room, grown)
				}
				rooms[room]++
				if random.IntN(20) == 0 {
					m.Shrink()
				}
				m.EraseItems(hs[:random.IntN(n+1)])
			}
			if rooms[true] == 0 || rooms[false] == 0 {
				t.Errorf("MinFree %d: with and without room: %v", minFree, rooms)
			}
		}
	})
}

func TestShrink_ReleasesOnlyCapacity(t *testing.T) {
	maptest.EachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, handle.Options{Reserve: 16})
		hs := maptest.InsertN(t, m, 12)
		m.EraseItems(hs[4:7])
		before := m.Digest()
		m.Shrink()
		want := int64(9*8 + 9*4 + 12*8 + 3*4) // items, meta set, slot words, freelist
		if m.Digest() != before || m.Cap() != 9 || m.Stats().Bytes != want {
			t.Errorf("after Shrink: capacity %d, %d bytes, want 9 and %d", m.Cap(), m.Stats().Bytes, want)
		}
		maptest.ExpectNumbers(t, m, hs[:4])
		if h := maptest.Insert(t, m, 0); h != maptest.Numbered(0, 2, 4) {
			t.Errorf("issued %v, want slot 4", h)
		}
	})
}

func TestInsert_GrowsRarely(t *testing.T) {
	const cycles = 20_000
	for _, o := range []handle.Options{{}, {MaxItems: 10, MinFree: cycles}, {MinFree: cycles}} {
		m := newMap[uint64](t, o)
		grown, bytes := 0, m.Stats().Bytes
		for range cycles { // with MinFree each makes a slot; few are live
			h := maptest.Insert(t, m, 0)
			if b := m.Stats().Bytes; b != bytes {
				grown, bytes = grown+1, b
			}
			if o.MinFree > 0 {
				m.Erase(h)
			}
		}
		if grown > 60 {
			t.Errorf("%+v: %d inserts grew arrays %d times", o, cycles, grown)
		}
	}
}
