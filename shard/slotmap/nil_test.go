package slotmap_test

import (
	"testing"

	"handloom/proof/maptest"
	"handloom/shard/slotmap"
)

func TestMap_Misuse(t *testing.T) {
	m := new(slotmap.Map[int])
	if _, err := m.Insert(1); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func(){
		"slotmap: EraseFunc with a nil function; give one":    func() { m.EraseFunc(nil) },
		"slotmap: EmplaceItems with a nil function; give one": func() { _, _ = m.EmplaceItems(1, nil, nil) },
		"slotmap: CopyTo with a nil Map; give one":            func() { m.CopyTo(nil, nil) },
	} {
		t.Run(want, func(t *testing.T) {
			if got := maptest.PanicOf(f); got != want || m.Len() != 1 {
				t.Errorf("panic with %v and %d items, want %s and 1", got, m.Len(), want)
			}
		})
	}
}
