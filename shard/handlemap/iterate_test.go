package handlemap_test

import (
	"testing"

	"handloom/proof/maptest"
	"handloom/shard/handle"
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
