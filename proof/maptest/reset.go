package maptest

import (
	"testing"
)

// Reset releases all memory without reviving an old handle (G3).
func (s suite) Reset_StartsAboveTheHighestGeneration(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 3)
		m.Erase(hs[2])
		Insert(t, m, 2) // generation 2 is the highest
		m.Reset()
		if s := m.Core().Stats(); s.Slots != 0 || s.Bytes != 0 || m.Cap() != 0 {
			t.Errorf("after Reset: %+v, capacity %d", s, m.Cap())
		}
		// Every slot begins above the highest generation of the old slots, not only the
		// used one.
		if h := Insert(t, m, 0); h != Numbered(0, 3, 0) {
			t.Errorf("the first handle after Reset is %v, want generation 3", h)
		}
	})
}
