package handlemap_test

import (
	"testing"

	"handloom/proof/maptest"

	"handloom/shard/handlemap"
)

func TestCopyTo_GrowsRarely(t *testing.T) {
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
