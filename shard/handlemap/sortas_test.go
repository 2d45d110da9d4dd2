package handlemap_test

import (
	"slices"
	"testing"
	"unsafe"

	"handloom/proof/maptest"

	"handloom/handle"
)

func addr[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }

func TestSortAs_FollowsHandles(t *testing.T) {
	maptest.EachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, handle.Options{TypeID: 2})
		hs := maptest.InsertN(t, m, 9)
		m.Erase(hs[2])
		m.Erase(hs[5]) // rows: 0 1 8 3 4 7 6
		stale := hs[2]
		m.SortAs([]number{hs[7], stale, hs[1], hs[7], {}, maptest.Numbered(1, 1, 3), hs[8], hs[1]})
		if want := []uint64{7, 1, 8, 0, 3, 4, 6}; !slices.Equal(m.Items(), want) {
			t.Errorf("order %v, want %v", m.Items(), want)
		}
		for _, i := range []int{0, 1, 3, 4, 6, 7, 8} {
			if *m.At(hs[i]) != uint64(i) {
				t.Errorf("%v names %d, not %d", hs[i], *m.At(hs[i]), i)
			}
		}
		if m.SortAs(nil); !slices.Equal(m.Items(), []uint64{7, 1, 8, 0, 3, 4, 6}) {
			t.Errorf("SortAs of nothing: %v", m.Items())
		}
		if n := m.EraseFunc(func(number, *uint64) bool { return false }); n != 0 {
			t.Errorf("SortAs leaves %d marks", n)
		}
	})
}

func TestPartition_KeepsOrder(t *testing.T) {
	for _, n := range cardCounts {
		for _, divisor := range []uint64{1, 2, 3, 1 << 40} {
			m, hs := cards(t, n, 10)
			var front, back []card
			for _, v := range m.Items() {
				if v.id%divisor == 0 {
					front = append(front, v)
				} else {
					back = append(back, v)
				}
			}
			visits := 0
			got := m.Partition(func(v *card) bool {
				visits++
				return v.id%divisor == 0
			})
			if got != len(front) || visits != n {
				t.Errorf("Partition says %d of %d after %d calls", got, n, visits)
			}
			expectCards(t, m, hs, append(front, back...))
		}
	}
}

func TestSwap_ExchangesRows(t *testing.T) {
	maptest.EachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, handle.Options{})
		hs := maptest.InsertN(t, m, 5)
		if !m.Swap(hs[1], hs[3]) || !m.Swap(hs[0], hs[0]) {
			t.Error("Swap of live handles fails")
		}
		if want := []uint64{0, 3, 2, 1, 4}; !slices.Equal(m.Items(), want) {
			t.Errorf("order %v, want %v", m.Items(), want)
		}
		maptest.ExpectNumbers(t, m, hs)
		m.Erase(hs[4])
		before := m.Digest()
		if m.Swap(hs[4], hs[0]) || m.Swap(hs[0], hs[4]) || m.Swap(number{}, number{}) || m.Digest() != before {
			t.Error("Swap with a stale handle changes something")
		}
	})
}

func TestMap_ItemsWithoutSize(t *testing.T) {
	m := newMap[struct{}](t, handle.Options{})
	hs, _ := m.InsertItems(make([]struct{}, 600), nil)
	m.Shrink()
	if got := m.Stats().Bytes; got != 600*(4+8) { // meta set and slot words
		t.Errorf("%d bytes for 600 items", got)
	}
	same := func(a, b *struct{}) int { return 0 }
	m.SortAs([]handle.Of[struct{}]{hs[5], hs[3]})
	m.SortFunc(same)
	m.SortByKey(func(*struct{}) uint64 { return 3 })
	if _, done := m.Defragment(same, 0); !done || m.HandleAt(0) != hs[5] {
		t.Error("equal items have moved")
	}
}
