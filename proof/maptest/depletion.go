package maptest

import (
	"testing"

	"handloom/internal/slotset"
)

func (s suite) CyclesPastTheLastGenerationIssueNoHandleTwice(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 3})
		last := int(slotset.LastGeneration())
		for i := range 2 * (last + 1) {
			h := Insert(t, m, uint64(i))
			// Every value of (slot, generation) in turn: none is null or twice.
			if want := Numbered(3, uint16(i%last+1), uint32(i/last)); h != want {
				t.Fatalf("cycle %d issues %v, want %v", i, h, want)
			}
			m.Erase(h)
		}
		if m.Core().Stats().Depleted != 2 {
			t.Errorf("%d slots are depleted, want 2", m.Core().Stats().Depleted)
		}
	})
}
