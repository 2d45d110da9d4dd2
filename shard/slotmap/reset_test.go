package slotmap_test

import (
	"testing"

	"handloom/internal/narrow"
	"handloom/shard/slotmap"
)

func TestHandlesFromBeforeAResetStayStale(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, slotmap.Options{TypeID: 2})
		issued := map[number]bool{}
		for range 10 { // both kinds of reset under narrow fields
			hs := insertN(t, m, 4)
			m.Erase(hs[1])
			m.Erase(hs[3])
			hs = append(hs, insert(t, m, 9)) // one slot is a generation ahead
			for _, h := range hs {
				if issued[h] {
					t.Fatalf("%v is issued twice", h)
				}
				issued[h] = true
			}
			m.Reset()
			if m.Len() != 0 {
				t.Fatalf("%d items after Reset", m.Len())
			}
			verify(t, m)
			fresh := insert(t, m, 0)
			if issued[fresh] {
				t.Fatalf("%v is issued twice", fresh)
			}
			for old := range issued {
				expectNothing(t, m, "handle from before a reset", old)
			}
			issued[fresh] = true
		}
	})
}

func TestResetForgetsSlotsAndStartsAboveTheHighestGeneration(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, slotmap.Options{})
		hs := insertN(t, m, 3)
		m.Erase(hs[2])
		insert(t, m, 2) // generation 2 is the highest
		m.Reset()
		if s := m.Stats(); s.Slots != 0 || s.Bytes != 0 || m.Cap() != 0 {
			t.Errorf("after Reset: %+v, capacity %d", s, m.Cap())
		}
		if h := insert(t, m, 0); h != number64(0, 3, 0) {
			t.Errorf("the first handle after Reset is %v, want generation 3", h)
		}
	})
}

func TestResetKeepsSlotsInTheUpperHalfOfTheGenerations(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		half := (int(narrow.LastGeneration) + 1) / 2 // 32,768 at the full width
		for _, highest := range []int{half - 1, half} {
			m := newMap[uint64](t, slotmap.Options{})
			for range highest {
				m.Erase(insert(t, m, 0))
			}
			m.Reset()
			if kept := m.Stats().Slots == 1; kept != (highest >= half) {
				t.Errorf("highest generation %d of %d: slots are kept: %t", highest, narrow.LastGeneration, kept)
			}
			if h := insert(t, m, 0); h != number64(0, uint16(highest+1), 0) {
				t.Errorf("issued %v, want generation %d", h, highest+1)
			}
		}
	})
}

func TestResetOfAnUnusedMap(t *testing.T) {
	var m slotmap.Map[uint64]
	m.Reset()
	m.Reset()
	verify(t, &m)
	if h := insert(t, &m, 0); h != number64(0, 1, 0) {
		t.Errorf("issued %v after resets of an unused map", h)
	}
}
