package slotset

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/handle"
)

func TestHandles_KeepsLastOfEachSlot(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 64, 65, 10_000} {
		var s Handles
		want := make(map[uint32]handle.ID)
		for range 500 {
			limit := 1 + random.IntN(n)
			if random.IntN(2) == 0 {
				s.Grow(limit)
			}
			for range 3 {
				id := handle.New(7, uint16(1+random.IntN(4)), uint32(random.IntN(limit)))
				s.Add(id)
				want[id.Slot()] = id
			}
			var got []handle.ID
			s.All(7, func(id handle.ID) bool {
				got = append(got, id)
				return true
			})
			in := slices.SortedFunc(maps.Values(want), func(a, b handle.ID) int { return int(a.Slot()) - int(b.Slot()) })
			if !slices.Equal(got, in) || s.Len() != len(in) {
				t.Fatalf("%d handles, %v; want %v", s.Len(), got, in)
			}
			if random.IntN(20) == 0 {
				s.Clear()
				clear(want)
			}
		}
		s.Add(handle.New(7, 1, 0))
		seen := 0
		s.All(7, func(handle.ID) bool { seen++; return false })
		if seen != 1 {
			t.Errorf("All yields %d handles after false", seen)
		}
	}
}
