package handlemap_test

import (
	"testing"

	"handloom/handle"
	"handloom/proof/maptest"
	"handloom/shard/handlemap"
)

func TestBackward_SkipsNewItems(t *testing.T) {
	maptest.EachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, handle.Options{})
		maptest.InsertN(t, m, 5)
		visited := 0
		for h, v := range m.Backward() {
			if visited++; *v >= 5 {
				t.Errorf("visits %d, which was inserted meanwhile", *v)
			}
			maptest.Insert(t, m, 5+*v)
			m.Erase(h)
		}
		if visited != 5 || m.Len() != 5 {
			t.Errorf("%d visits, %d items left; want 5 and 5", visited, m.Len())
		}
	})
}

func TestMap_AllFollowsOrPanics(t *testing.T) {
	const items = 9
	type change func(m *handlemap.Map[uint64], hs []number, i int)
	byLess := func(a, b *uint64) int { return int(*b) - int(*a) }
	run := func(at int, f change) (visited map[uint64]bool, misuse any) {
		m := newMap[uint64](t, handle.Options{})
		hs := maptest.InsertN(t, m, items)
		visited = map[uint64]bool{}
		return visited, maptest.PanicOf(func() {
			for _, v := range m.All() {
				if visited[*v] = true; len(visited) == at+1 {
					f(m, hs, int(*v))
				}
			}
		})
	}
	for at := range items {
		for name, f := range map[string]change{
			"Reserve": func(m *handlemap.Map[uint64], _ []number, _ int) { m.Reserve(1000) },
			"Shrink":  func(m *handlemap.Map[uint64], _ []number, _ int) { m.Shrink() },
			"InsertItems": func(m *handlemap.Map[uint64], _ []number, _ int) {
				_, _ = m.InsertItems(make([]uint64, 100), nil)
			},
			"EraseItems": func(m *handlemap.Map[uint64], hs []number, i int) { m.EraseItems(hs[i : i+1]) },
			"EraseFunc": func(m *handlemap.Map[uint64], _ []number, i int) {
				m.EraseFunc(func(_ number, v *uint64) bool { return *v == uint64(i) })
			},
			"stale": func(m *handlemap.Map[uint64], hs []number, i int) { m.Erase(number{}); m.Swap(hs[i], hs[i]) },
		} {
			if visited, misuse := run(at, f); len(visited) != items || misuse != nil {
				t.Errorf("%s at step %d: %d visits, want %d; panic %v", name, at, len(visited), items, misuse)
			}
		}
		for name, f := range map[string]change{
			"Erase":      func(m *handlemap.Map[uint64], hs []number, i int) { m.Erase(hs[(i+4)%items]) },
			"EraseItems": func(m *handlemap.Map[uint64], hs []number, _ int) { m.EraseItems(hs[2:5]) },
			"EraseFunc": func(m *handlemap.Map[uint64], _ []number, _ int) {
				m.EraseFunc(func(number, *uint64) bool { return true })
			},
			"Clear":     func(m *handlemap.Map[uint64], _ []number, _ int) { m.Clear() },
			"Reset":     func(m *handlemap.Map[uint64], _ []number, _ int) { m.Reset(); maptest.InsertN(t, m, items) },
			"SortFunc":  func(m *handlemap.Map[uint64], _ []number, _ int) { m.SortFunc(byLess) },
			"SortRange": func(m *handlemap.Map[uint64], _ []number, _ int) { m.SortRange(1, 3, byLess) },
			"SortByKey": func(m *handlemap.Map[uint64], _ []number, _ int) {
				m.SortByKey(func(v *uint64) uint64 { return items - *v })
			},
			"SortAs":     func(m *handlemap.Map[uint64], hs []number, _ int) { m.SortAs(hs[3:4]) },
			"Partition":  func(m *handlemap.Map[uint64], _ []number, _ int) { m.Partition(func(v *uint64) bool { return *v > 3 }) },
			"Swap":       func(m *handlemap.Map[uint64], hs []number, _ int) { m.Swap(hs[0], hs[1]) },
			"Defragment": func(m *handlemap.Map[uint64], _ []number, _ int) { m.Defragment(byLess, 0) },
			"CopyTo":     func(m *handlemap.Map[uint64], _ []number, _ int) { m.Clone().CopyTo(m, nil) },
		} {
			if _, misuse := run(at, f); misuse == nil {
				t.Errorf("%s at step %d: no panic", name, at)
			}
		}
	}
}

func TestItems_AppendCopies(t *testing.T) {
	m := newMap[uint64](t, handle.Options{Reserve: 16})
	hs := maptest.InsertN(t, m, 4)
	items := m.Items()
	if len(items) != 4 || cap(items) != 4 {
		t.Fatalf("length %d, capacity %d", len(items), cap(items))
	}
	_ = append(items, 99)
	maptest.Verify(t, m) // the rows past the last are still zero
	items[2] = 22
	if *m.At(hs[2]) != 22 {
		t.Error("Items is a copy")
	}
}
