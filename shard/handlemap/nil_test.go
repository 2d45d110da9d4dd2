package handlemap_test

import (
	"testing"

	"handloom/proof/maptest"
	"handloom/shard/handlemap"
)

func TestNil_IsNamed(t *testing.T) {
	m := new(handlemap.Map[int])
	if _, err := m.Insert(1); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func(){
		"handlemap: EraseFunc with a nil function; give one":    func() { m.EraseFunc(nil) },
		"handlemap: EmplaceItems with a nil function; give one": func() { _, _ = m.EmplaceItems(1, nil, nil) },
		"handlemap: CopyTo with a nil Map; give one":            func() { m.CopyTo(nil, nil) },
		"handlemap: SortFunc with a nil function; give one":     func() { m.SortFunc(nil) },
		"handlemap: SortRange with a nil function; give one":    func() { m.SortRange(0, 1, nil) },
		"handlemap: SortByKey with a nil function; give one":    func() { m.SortByKey(nil) },
		"handlemap: Partition with a nil function; give one":    func() { m.Partition(nil) },
	} {
		t.Run(want, func(t *testing.T) {
			if got := maptest.PanicOf(f); got != want {
				t.Errorf("panic with %v, want %s", got, want)
			}
			if m.Len() != 1 {
				t.Errorf("%d items afterwards, want 1", m.Len())
			}
		})
	}
}
