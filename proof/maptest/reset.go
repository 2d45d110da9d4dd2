package maptest

import (
	"testing"

	"handloom/internal/slotset"
)

func (s suite) ResetForgetsSlotsAndStartsAboveTheHighestGeneration(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 3)
		m.Erase(hs[2])
		Insert(t, m, 2) // generation 2 is the highest
		m.Reset()
		if s := m.Core().Stats(); s.Slots != 0 || s.Bytes != 0 || m.Cap() != 0 {
			t.Errorf("after Reset: %+v, capacity %d", s, m.Cap())
		}
		if h := Insert(t, m, 0); h != Numbered(0, 3, 0) {
			t.Errorf("the first handle after Reset is %v, want generation 3", h)
		}
	})
}

func (s suite) ResetKeepsSlotsInTheUpperHalfOfTheGenerations(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		half := (int(slotset.LastGeneration()) + 1) / 2 // 32,768 at the full width
		for _, highest := range []int{half - 1, half} {
			m := newMap(t, s.Numbers, Options{})
			for range highest {
				m.Erase(Insert(t, m, 0))
			}
			m.Reset()
			if kept := m.Core().Stats().Slots == 1; kept != (highest >= half) {
				t.Errorf("highest generation %d of %d: slots are kept: %t", highest, slotset.LastGeneration(), kept)
			}
			if h := Insert(t, m, 0); h != Numbered(0, uint16(highest+1), 0) {
				t.Errorf("issued %v, want generation %d", h, highest+1)
			}
		}
	})
}
