package shard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/batch"
	"handloom/shard/handle"
)

// A report has the first stale commands of each kind, in the order of keys and sequences,
// and no other commands: neither to items, nor to creates of the batch, whichever queue
// records them.
func TestSamples_AreTheFirstStaleCommands(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		for seed := range uint64(100) {
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 7))
				tab := newTable(t, stable)
				live := tab.fill(t, 6, 2)
				forged := batch.Emplace(&tab.recorder, tab.queue(), 1).ID // of a batch that is dropped
				tab.batch.Drop(nil)
				const tasks = 3
				p := tab.batch.Begin(tasks)
				creates := make([]handle.ID, tasks)
				for task := range creates {
					creates[task] = batch.Emplace(&tab.recorder, p.Queue(task), 1).ID
				}
				var want []batch.Sample
				for task := range tasks {
					want = append(want, staleCommands(r, tab, p.Queue(task), task, stable, live, creates, forged)...)
				}
				var counts batch.Counts
				tab.plan(t)
				got := tab.Report(&counts)
				kept := make(map[string]int)
				of := func(s batch.Sample) string {
					switch {
					case s.Column == "":
						return "items"
					case s.Column == "element":
						return "element"
					}
					return fmt.Sprint(s.Column, s.Kind)
				}
				slices.SortStableFunc(want, func(a, b batch.Sample) int { // erases of items come before puts
					return order(a) - order(b)
				})
				want = slices.DeleteFunc(want, func(s batch.Sample) bool {
					kept[of(s)]++
					return kept[of(s)] > batch.MaxSamples
				})
				slices.SortStableFunc(got, func(a, b batch.Sample) int { return order(a) - order(b) })
				if !slices.Equal(got, want) {
					t.Fatalf("samples = %v, want %v", got, want)
				}
			})
		}
	})
}

// order sorts samples by what they are for.
func order(s batch.Sample) int {
	return 10*slices.Index([]string{"", "element", "extra"}, s.Column) + slices.Index([]batch.Kind{batch.Erase, batch.Put, batch.Set, batch.Unset}, s.Kind)
}

// staleCommands records random commands of a task, and returns those that are stale.
func staleCommands(r *rand.Rand, tab *table, q batch.Queue, task int, stable bool, live, creates []handle.ID, forged handle.ID) (stale []batch.Sample) {
	var erases, puts, sets, extras int
	for range r.IntN(60) {
		var id handle.ID
		isStale, isOwn := false, false
		switch r.IntN(5) {
		case 0:
			id = live[r.IntN(len(live))]
		case 1:
			n := r.IntN(len(creates))
			id, isOwn = creates[n], n == task
		case 2:
			id, isStale = forged, true
		case 3:
			id, isStale = creates[task]+5, true // a name that no create has
		default:
			id, isStale = handle.New(7, 3, uint32(r.IntN(3))), true
		}
		s := batch.Sample{Handle: id, TypeID: 7, Task: task, Pass: 0}
		sequence := &puts
		switch kind := r.IntN(5); {
		case kind == 0:
			tab.recorder.Erase(q, id)
			s.Kind, sequence, isOwn = batch.Erase, &erases, false
		case kind == 1:
			batch.PutItem(&tab.recorder, q, handle.Of[uint64]{ID: id}, 1)
			s.Kind, isOwn = batch.Put, false
		case kind == 2 && !stable:
			tab.setElement(q, id, 1)
			s.Kind, s.Column, sequence = batch.Set, "element", &sets
		case kind == 3:
			tab.extras.Unset(q, id)
			s.Kind, s.Column, sequence = batch.Unset, "extra", &extras
		default:
			tab.setExtra(q, id, 1)
			s.Kind, s.Column, sequence = batch.Set, "extra", &extras
		}
		if isOwn { // it is staged, and has no number
			continue
		}
		s.Sequence = *sequence
		*sequence++
		if isStale {
			stale = append(stale, s)
		}
	}
	return stale
}

// Optional data of an item that is gone breaks an invariant of the state.
func TestVerify_FindsOptionalDataWithoutItem(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		tab := newTable(t, stable)
		ids := tab.fill(t, 10, 1)
		if err := tab.State().Verify(); err != nil {
			t.Fatal(err)
		}
		tab.Map.(written).EraseItems(ids[3:4]) // and not its data
		if tab.State().Verify() == nil {
			t.Error("Verify = nil, want an error")
		}
	})
}

// Flushes that give some items optional values and take them away need the same memory
// again.
func TestFlush_NeedsTheSameMemoryForOptionalData(t *testing.T) {
	kinds(t, func(t *testing.T, stable bool) {
		tab := newTable(t, stable)
		ids := tab.fill(t, 20, 21)
		flush := func() {
			q := tab.queue()
			for _, id := range ids[:5] {
				tab.setExtra(q, id, 1)
			}
			tab.setExtra(q, batch.Emplace(&tab.recorder, q, 1).ID, 1)
			tab.flush(t)
			name := tab.recorder.Published()[0].Created()[0]
			q = tab.queue()
			for _, id := range append(ids[:5:5], name) {
				tab.extras.Unset(q, id)
			}
			tab.recorder.Erase(q, name)
			tab.flush(t)
		}
		for range 10 {
			flush()
		}
		before := tab.data.Bytes()
		for range 500 {
			flush()
		}
		if after := tab.data.Bytes(); after != before {
			t.Errorf("Bytes = %d after 500 flushes more, want %d", after, before)
		}
	})
}
