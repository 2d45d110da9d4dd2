package maptest

import (
	"testing"

	"handloom/internal/slotset"
)

func (s suite) EraseOfAnyRowThenReuse(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		for _, erased := range []int{0, 2, 4} { // the first, a middle and the last row
			m := newMap(t, s.Numbers, Options{})
			hs := InsertN(t, m, 5)
			if !m.Erase(hs[erased]) || m.Erase(hs[erased]) {
				t.Fatalf("row %d is not erased exactly once", erased)
			}
			if row, _ := m.RowOf(hs[4]); erased != 4 && row != choose(s, erased, 4) {
				t.Errorf("the last item is at row %d after the erase of row %d", row, erased)
			}
			again := Insert(t, m, uint64(erased))
			if again.ID.Slot() != hs[erased].ID.Slot() || again.ID.Generation() != 2 {
				t.Errorf("slot of %v is issued again as %v", hs[erased], again)
			}
			old := hs[erased]
			hs[erased] = again
			ExpectNumbers(t, m, hs)
			ExpectNothing(t, m, "erased", old)
		}
	})
}

func (s suite) EraseOfTheOnlyRowWhileTheFreelistIsEmpty(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		// The queue's front and back are the same slot, again and again.
		for generation := uint16(1); generation < min(slotset.LastGeneration(), 100); generation++ {
			h := Insert(t, m, 0)
			if h != Numbered(0, generation, 0) {
				t.Fatalf("generation %d is issued as %v", generation, h)
			}
			m.Erase(h)
			Verify(t, m)
		}
	})
}

func (s suite) TheBackOfAnEmptiedFreelistIsForgotten(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 3)
		m.Erase(hs[0])
		hs[0] = Insert(t, m, 0) // empties the queue; slot 0 was its back
		m.Erase(hs[1])
		Verify(t, m)
		ExpectNumbers(t, m, hs[:1])
		if h := Insert(t, m, 1); h != Numbered(0, 2, 1) {
			t.Errorf("issued %v, want slot 1", h)
		}
	})
}

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

func (s suite) ASlotRestsForAsManyInsertsAsThereAreVacantSlots(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 10)
		m.EraseItems(hs)
		for range 20 {
			m.Erase(Insert(t, m, 0))
		}
		for range 10 { // 20 pairs over 10 slots: all of them are two further on
			if h := Insert(t, m, 0); h.ID.Generation() != 4 {
				t.Errorf("%v was issued %d times, want 4", h, h.ID.Generation())
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

func (s suite) MinFreeGivesWayAtTheSlotLimit(t *testing.T) {
	SetWidths(t, 7, 16)
	m := newMap(t, s.Numbers, Options{MinFree: 10})
	hs := InsertN(t, m, 16)
	m.EraseItems(hs[:4])
	for i := range 4 {
		if h := Insert(t, m, 0); h != Numbered(0, 2, uint32(i)) {
			t.Errorf("insert %d gives %v, want slot %d", i, h, i)
		}
	}
}

func (s suite) ClearOfAnEmptyMapTouchesNoSlot(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 5)
		order := []int{3, 0, 4, 1, 2}
		for _, slot := range order {
			m.Erase(hs[slot])
		}
		before := m.Digest()
		for range 5 {
			m.Clear()
		}
		if m.Digest() != before {
			t.Error("clearing an empty map changed it")
		}
		for _, slot := range order {
			if h := Insert(t, m, 0); h != Numbered(0, 2, uint32(slot)) {
				t.Errorf("issued %v, want slot %d at generation 2", h, slot)
			}
		}
	})
}

func (s suite) ClearPutsLiveSlotsBehindVacantOnes(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 6)
		m.Erase(hs[4])
		m.Erase(hs[1]) // packed rows: 0, 5, 2, 3
		m.Clear()
		if m.Len() != 0 || m.Cap() == 0 {
			t.Errorf("after Clear: %d items, capacity %d", m.Len(), m.Cap())
		}
		for _, slot := range choose(s, []uint32{4, 1, 0, 5, 2, 3}, []uint32{4, 1, 0, 2, 3, 5}) {
			if h := Insert(t, m, 0); h != Numbered(0, 2, slot) {
				t.Errorf("issued %v, want slot %d at generation 2", h, slot)
			}
		}
	})
}
