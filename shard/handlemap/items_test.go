package handlemap_test

import (
	"testing"

	"handloom/proof/maptest"
	"handloom/shard/handle"
)

func TestItemsWithoutSizeTakeNoMemory(t *testing.T) {
	m := newMap[struct{}](t, handle.Options{})
	for range 8 {
		maptest.Insert(t, m, struct{}{})
	}
	m.Shrink()
	if got := m.Stats().Bytes; got != 8*4+8*8 { // meta set and slot words
		t.Errorf("%d bytes for 8 items", got)
	}
}
