package maptest

import (
	"slices"
	"testing"
)

// Worn returns a map with live, vacant and depleted slots, a shuffled freelist
// and, with narrow fields, a floor.
func Worn(t *testing.T, k Maker[uint64]) (Map[uint64], []number) {
	t.Helper()
	m := newMap(t, k, Options{TypeID: 6, MinFree: 1, MaxItems: 12})
	InsertN(t, m, 2)
	// Reset sets the floor of generations.
	m.Reset()
	hs := InsertN(t, m, 9)
	// The freelist is not in the order of slots.
	for _, i := range []int{7, 2, 5} {
		m.Erase(hs[i])
	}
	return m, slices.DeleteFunc(hs, func(h number) bool { return !m.Has(h) })
}
