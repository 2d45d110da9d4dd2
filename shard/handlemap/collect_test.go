package handlemap_test

import (
	"runtime"
	"testing"
	"weak"

	"handloom/proof/maptest"

	"handloom/handle"
)

func TestClear_FreesSortedItems(t *testing.T) {
	m := newMap[*maptest.PointerItem](t, handle.Options{Reserve: 16})
	var refs []weak.Pointer[maptest.PointerItem]
	for range 8 {
		_, ref := maptest.InsertPointerItem(t, m)
		refs = append(refs, ref)
	}
	first := m.HandleAt(0)
	m.SortAs([]handle.Of[*maptest.PointerItem]{m.HandleAt(7), m.HandleAt(3)})
	m.SortFunc(func(a, b **maptest.PointerItem) int { return int((*a).Data[0]) - int((*b).Data[0]) })
	if m.HandleAt(0) == first {
		t.Error("nothing has moved")
	}
	m.Clear()
	maptest.ExpectCollected(t, refs)
	runtime.KeepAlive(m)
}
