package suite

import "testing"

// The comparisons do not depend on the machine: all calls together must take no
// more than 5 % of those of a full sort (P9).
func TestDefragmentComparesLittleAfterFewChanges(t *testing.T) {
	of := make(map[string]float64)
	for _, c := range (set[item8]{n: 100_000, seed: 1}).comparisons() {
		if c.Impl != "slices.SortFunc" {
			of[c.Impl] = c.Open().Measure()
		}
	}
	t.Log("comparisons per item:", of)
	if again, full := of["handlemap.Defragment.1000"], of["handlemap.SortFunc"]; again*20 > full || again == 0 {
		t.Errorf("%.3f comparisons per item after 0.1 %% of the items changed, but %.3f for the full sort", again, full)
	}
}
