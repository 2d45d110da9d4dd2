package shard_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/handle"
	"handloom/internal/items"
	"handloom/internal/seam"
	"handloom/internal/slotset"
	"handloom/shard"
)

// wornTable returns a table of few slots and its live items. Some slots are depleted or at
// their last generation.
func wornTable(t *testing.T, r *rand.Rand, stable bool, last uint16) (*table, []handle.ID) {
	t.Helper()
	t.Cleanup(seam.Narrow(last, 24))
	tab := newTable(t, stable)
	m := tab.Map.(written)
	var ids []handle.ID
	for range 1 + r.IntN(12) {
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		n := r.IntN(len(ids) + 1)
		m.EraseItems(ids[:n])
		inserted, err := m.InsertItems(items.From(make([]uint64, r.IntN(12))), nil)
		ids = ids[n:]
		if err == nil { // enough slots
			ids = append(ids, inserted...)
		}
	}
	return tab, ids
}

// maxCreates returns the number of creates that fit a copy of the table after erases.
func maxCreates(t *testing.T, tab *table, erased map[handle.ID]bool) (n int) {
	t.Helper()
	m := shard.Copy(tab.State(), shard.State{}, shard.CloneFuncs{}).Map.(written)
	m.EraseItems(slices.Sorted(maps.Keys(erased)))
	for {
		if _, err := m.InsertItems(items.From(make([]uint64, 1)), nil); err != nil {
			return n
		}
		n++
	}
}

// Creates fit next to planned erases exactly if they fit a copy without the items, also
// after UnplanErase.
func TestPlanErase_FitsWhatACopyHolds(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		for seed := range uint64(150) {
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 6))
				last := uint16(2 + r.IntN(3))
				tab, ids := wornTable(t, r, stable, last)
				stale := handle.New(7, 1, 1000)
				erased := make(map[handle.ID]bool)
				compare := func(when string) {
					t.Helper()
					n := maxCreates(t, tab, erased)
					if err := tab.Fits(n); err != nil {
						t.Fatalf("%s, Fits(%d) = %v with %d items erased", when, n, err, len(erased))
					}
					if tab.Fits(n+1) == nil {
						t.Fatalf("%s, Fits(%d) = nil with %d items erased, want an error", when, n+1, len(erased))
					}
					if tab.Erased() != len(erased) {
						t.Fatalf("%s, Erased = %d, want %d", when, tab.Erased(), len(erased))
					}
				}
				for range 8 { // one call each
					added := make(map[handle.ID]bool) // to depleting
					for range r.IntN(8) {
						id := stale
						if len(ids) > 0 && r.IntN(6) > 0 {
							id = ids[r.IntN(len(ids))]
						}
						marked, depleting := tab.PlanErase(id)
						want := id != stale && !erased[id]
						if marked != want || depleting != (want && id.Generation() == last) {
							t.Fatalf("PlanErase(%v) = %t, %t, want %t; the last generation is %d", id, marked, depleting, want, last)
						}
						if marked {
							erased[id], added[id] = true, depleting
						}
					}
					compare("planned")
					if r.IntN(2) == 0 {
						continue
					}
					for id, depleting := range added {
						tab.UnplanErase(id, depleting)
						delete(erased, id)
					}
					compare("taken back")
				}
				clear(erased)
				tab.Cancel()
				compare("canceled")
				var every slotset.Bitset
				tab.Map.MarkEvery(&every)
				depleting := 0
				for _, id := range ids {
					if id.Generation() == last {
						depleting++
					}
				}
				if every.Len() != len(ids) || every.Depleting() != depleting {
					t.Fatalf("of all items, %d are marked and %d depleting, want %d and %d", every.Len(), every.Depleting(), len(ids), depleting)
				}
			})
		}
	})
}
