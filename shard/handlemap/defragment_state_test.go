package handlemap_test

import (
	"slices"
	"testing"

	"handloom/proof/maptest"

	"handloom/shard/handlemap"
)

func TestDefragment_ForgetsWithoutTrace(t *testing.T) {
	for name, drop := range map[string]func(m *handlemap.Map[uint64]){
		"forget": func(m *handlemap.Map[uint64]) { m.Defragment(nil, 0) },
		"Clear":  func(m *handlemap.Map[uint64]) { m.Clear() },
		"Reset":  func(m *handlemap.Map[uint64]) { m.Reset() },
		"erase":  func(m *handlemap.Map[uint64]) { m.EraseFunc(func(number, *uint64) bool { return true }) },
		"touch":  func(m *handlemap.Map[uint64]) { m.TouchRows(0, m.Len()) },
		"sort":   func(m *handlemap.Map[uint64]) { m.SortFunc(func(a, b *uint64) int { return ascend(b, a) }) },
	} {
		a, _ := large(t, 60)
		b := a.Clone()
		for range 60 {
			a.Defragment(ascend, 1)
		}
		if !slices.Equal(a.Items(), b.Items()) {
			t.Fatal("setup: rows have moved already")
		}
		for _, m := range []*handlemap.Map[uint64]{a, b} {
			drop(m)
			if name == "erase" {
				m.Defragment(nil, 0)
			}
		}
		if a.Digest() != b.Digest() || a.Clone().Digest() != b.Digest() {
			t.Errorf("%s: digests differ", name)
		}
		for range 3 {
			maptest.Insert(t, a, 5)
			maptest.Insert(t, b, 5)
		}
		if x, y := countCalls(a), countCalls(b); x != y || a.Digest() != b.Digest() {
			t.Errorf("%s: %d and %d comparisons", name, x, y)
		}
	}
}

func countCalls(m *handlemap.Map[uint64]) int {
	var c counter
	m.Defragment(c.ascend, 0)
	return c.calls
}
