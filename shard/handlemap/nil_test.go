package handlemap_test

import (
	"testing"

	"handloom/proof/maptest"
	"handloom/shard/handlemap"
)

func TestMap_Misuse(t *testing.T) {
	m, compare := new(handlemap.Map[int]), func(a, b *int) int { return *a - *b }
	if _, err := m.Insert(1); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func(){
		"handlemap: EraseFunc with a nil function; give one":                 func() { m.EraseFunc(nil) },
		"handlemap: EmplaceItems with a nil function; give one":              func() { _, _ = m.EmplaceItems(1, nil, nil) },
		"handlemap: CopyTo with a nil Map; give one":                         func() { m.CopyTo(nil, nil) },
		"handlemap: SortFunc with a nil function; give one":                  func() { m.SortFunc(nil) },
		"handlemap: SortRange with a nil function; give one":                 func() { m.SortRange(0, 1, nil) },
		"handlemap: SortByKey with a nil function; give one":                 func() { m.SortByKey(nil) },
		"handlemap: Partition with a nil function; give one":                 func() { m.Partition(nil) },
		"handlemap: Defragment with a budget of -1; it must not be negative": func() { m.Defragment(compare, -1) },
		"handlemap: SortRange of rows -1 to 1 of a map of 1":                 func() { m.SortRange(-1, 1, compare) },
		"handlemap: SortRange of rows 1 to 0 of a map of 1":                  func() { m.SortRange(1, 0, compare) },
		"handlemap: SortRange of rows 0 to 2 of a map of 1":                  func() { m.SortRange(0, 2, compare) },
	} {
		t.Run(want, func(t *testing.T) {
			if got := maptest.PanicOf(f); got != want || m.Len() != 1 {
				t.Errorf("panic with %v and %d items, want %s and 1", got, m.Len(), want)
			}
		})
	}
	for _, rows := range [][2]int{{-1, 1}, {1, 0}, {0, 2}, {2, 2}} {
		if maptest.PanicOf(func() { m.TouchRows(rows[0], rows[1]) }) == nil {
			t.Errorf("TouchRows%v does not panic", rows)
		}
	}
}
