package maptest

import (
	"testing"
)

func (s suite) SlotsAreReusedOldestFirst(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 10)
		order := []int{7, 1, 9, 0, 4, 2, 8, 3, 6, 5}
		for _, slot := range order {
			m.Erase(hs[slot])
		}
		for i, slot := range order {
			if h := Insert(t, m, 0); h != Numbered(0, 2, uint32(slot)) {
				t.Errorf("insert %d reuses %v, want slot %d", i, h, slot)
			}
		}
	})
}

func (s suite) MinFreeVacantSlotsAreHeldBack(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		for _, minFree := range []int{0, 1, 2, 5} {
			m := newMap(t, s.Numbers, Options{MinFree: minFree})
			erasedAt := map[uint32]int{}
			for i := range 6 * (minFree + 1) { // below the last generation
				h := Insert(t, m, 0)
				if at, reused := erasedAt[h.ID.Slot()]; reused && i-at < minFree+1 {
					t.Fatalf("MinFree %d: %v is issued %d erases after its slot's", minFree, h, i-at-1)
				}
				m.Erase(h)
				erasedAt[h.ID.Slot()] = i
			}
			if s := m.Core().Stats(); s.Slots != minFree+1 {
				t.Errorf("MinFree %d makes %d slots, want %d", minFree, s.Slots, minFree+1)
			}
		}
	})
}
