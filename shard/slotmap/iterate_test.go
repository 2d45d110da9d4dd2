package slotmap_test

import (
	"iter"
	"slices"
	"testing"

	"handloom/proof/maptest"

	"handloom/handle"
	"handloom/shard/slotmap"
)

func TestRange_VisitsItsRows(t *testing.T) {
	m := newMap[uint64](t, handle.Options{})
	hs := maptest.InsertN(t, m, 200) // more than three words of the bitmap
	erased := func(i int) bool { return i%3 == 0 || i > 64 && i < 128 }
	for i, h := range hs {
		if erased(i) {
			m.Erase(h)
		}
	}
	bounds := []int{0, 1, 2, 3, 62, 63, 64, 65, 66, 127, 128, 129, 190, 192, 199, 200}
	for _, lo := range bounds {
		for _, hi := range bounds {
			if lo > hi {
				continue
			}
			var got, want []number
			for i := lo; i < hi; i++ {
				if !erased(i) {
					want = append(want, hs[i])
				}
			}
			for h, v := range m.Range(lo, hi) {
				if got = append(got, h); v != m.At(h) {
					t.Errorf("Range(%d, %d): %v comes with another item", lo, hi, h)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("Range(%d, %d) visits %v, want %v", lo, hi, got, want)
			}
		}
	}
	for _, bad := range [][2]int{{-1, 3}, {3, 2}, {0, 201}} {
		visit := func() {
			for range m.Range(bad[0], bad[1]) {
				t.Error("it visits something")
			}
		}
		if maptest.PanicOf(visit) == nil {
			t.Errorf("Range(%d, %d) of 200 rows does not panic", bad[0], bad[1])
		}
	}
}

func TestIteration_AllowsErases(t *testing.T) {
	for name, iterate := range map[string]func(m *slotmap.Map[uint64]) iter.Seq2[number, *uint64]{
		"All":      (*slotmap.Map[uint64]).All,
		"Backward": (*slotmap.Map[uint64]).Backward,
		"Range":    func(m *slotmap.Map[uint64]) iter.Seq2[number, *uint64] { return m.Range(0, m.Rows()) },
	} {
		m := newMap[uint64](t, handle.Options{})
		hs := maptest.InsertN(t, m, 150)
		visited := map[number]bool{}
		for h := range iterate(m) {
			if visited[h] || !m.Has(h) {
				t.Fatalf("%s visits %v, visited before: %t", name, h, visited[h])
			}
			visited[h] = true
			m.Erase(h)
			m.Erase(hs[(h.ID.Slot()+1)%150]) // the next item of All
			m.Erase(hs[(h.ID.Slot()+149)%150])
			m.Erase(hs[(h.ID.Slot()+70)%150])
		}
		if m.Len() != 0 || len(visited) < 150/4 {
			t.Errorf("%s leaves %d items after %d visits", name, m.Len(), len(visited))
		}
		for _, gaps := range []bool{false, true} {
			for h := range iterate(m) {
				t.Errorf("%s visits %v after a Reset", name, h)
			}
			hs := maptest.InsertN(t, m, 150)
			for i := 0; gaps && i < 150; i += 3 {
				m.Erase(hs[i])
			}
			visits := 0
			for range iterate(m) {
				visits++
				m.Reset()
			}
			if visits != 1 {
				t.Errorf("%s visits %d items, want 1 before the Reset", name, visits)
			}
		}
	}
}
