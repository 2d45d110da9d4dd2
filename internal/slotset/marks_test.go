package slotset

import (
	"testing"

	"handloom/handle"
)

func TestBitset_ClearResetsCounts(t *testing.T) {
	setWidths(t, 1, 16) // every erase depletes
	var o owners
	ids := handle.IDs(o.issue(5))
	var k Bitset
	for range 3 {
		o.MarkItems(&k, ids[1:4], 5, nil)
		if again := o.Mark(&k, ids[0], 5); again != Marked || k.Len() != 4 || k.Depleting() != 4 {
			t.Fatalf("%v, %d marked, %d depleting; want 4", again, k.Len(), k.Depleting())
		}
		if k.Clear(); k.Len() != 0 || k.Depleting() != 0 {
			t.Errorf("cleared, %d are marked and %d depleting", k.Len(), k.Depleting())
		}
	}
}
