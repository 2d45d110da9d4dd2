package handlemap_test

import (
	"testing"

	"handloom/proof/maptest"

	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// In the middle of a round, and over a map in the middle of another.
func TestACopyGoesOnDefragmenting(t *testing.T) {
	m, _ := large(t, 100)
	c, _ := large(t, 120)
	for _, m := range []*handlemap.Map[uint64]{m, c} {
		finish(t, m, 0)
		for row := 5; row < 100; row += 3 {
			*m.At(m.HandleAt(row)) = uint64(row) * 37 % 100
			m.Touch(m.HandleAt(row))
		}
	}
	for done := false; !done; {
		_, _, done = step(t, m, 1)
		for range 3 {
			step(t, c, 1)
		}
		m.CopyTo(c, nil)
		maptest.Verify(t, c)
		if c.Digest() != m.Digest() {
			t.Fatal("the copy knows something else")
		}
		a, b := m.Clone(), newMap[uint64](t, handle.Options{})
		c.CopyTo(b, nil)
		if x, y := countCalls(a), countCalls(b); x != y || a.Digest() != b.Digest() {
			t.Fatalf("%d and %d comparisons", x, y)
		}
	}
}

func TestCopiesOfAGrowingMapRarelyAllocate(t *testing.T) {
	var m, c handlemap.Map[uint64]
	moved, at := 0, (*uint64)(nil)
	for i := range 10_000 {
		maptest.Insert(t, &m, uint64(i))
		m.CopyTo(&c, nil)
		if first := &c.Items()[0]; first != at {
			moved, at = moved+1, first
		}
	}
	if moved > 20 {
		t.Errorf("10,000 copies took %d arrays", moved)
	}
}
