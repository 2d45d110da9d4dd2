package scenario

import (
	"context"
	"iter"
	"math"
	"testing"
	"unsafe"

	"handloom/store"
)

func TestItemsHaveTheirSizeAndNoPadding(t *testing.T) {
	got := []uintptr{
		unsafe.Sizeof(item[[0]uint64]{}), unsafe.Sizeof(item[[4]uint64]{}), unsafe.Sizeof(item[[12]uint64]{}),
		unsafe.Sizeof(item[[28]uint64]{}), unsafe.Sizeof(item[[124]uint64]{}),
	}
	for i, size := range sizes {
		if got[i] != uintptr(size) {
			t.Errorf("an item of %d bytes has %d", size, got[i])
		}
	}
}

// world returns a world that is filled and has played some ticks.
func playedWorld(t *testing.T, s *Scenario, ticks int) *world {
	t.Helper()
	w, err := newWorld(s, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range ticks {
		if err := w.play(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// heads returns all items of a table, by shard.
func heads(t *testing.T, w *world, table int) (all [][]head) {
	t.Helper()
	err := w.store.Write(t.Context(), func(_ context.Context, wr *store.Writer) error {
		w.tables[table].shards(wr, func(_, items int, ids iter.Seq[store.ID]) {
			var shard []head
			for id := range ids {
				h, ok := w.tables[table].read(id)
				if !ok {
					t.Errorf("%v is listed and not found", id)
				}
				shard = append(shard, h)
			}
			if len(shard) != items {
				t.Errorf("a shard lists %d of %d items", len(shard), items)
			}
			all = append(all, shard)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWhatComesAndGoesIsWhatTheScenarioSays(t *testing.T) {
	s := small()
	s.Ticks = 150
	r := passed(t, s, Options{})
	items, live := 0, 0
	for i, table := range s.Tables {
		items += table.Items
		live += r.Tables[i].Live
	}
	if r.Counts.Created-r.Counts.Erased != live-items {
		t.Errorf("%v, and %d items became %d", r.Counts, items, live)
	}
	near := func(what string, got, want int) {
		t.Helper()
		if math.Abs(float64(got-want)) > 0.05*float64(want) {
			t.Errorf("%s: %d; want about %d", what, got, want)
		}
	}
	// b is full after some ticks, and then gets what it loses.
	near("erased", r.Counts.Erased, 150*(100+20+10))
	near("put and superseded", r.Counts.Put+r.Counts.Superseded+r.Counts.Dropped+r.Counts.Stale, 150*(200+20+10+5))
	if r.Tables[1].Live > 600 || r.Tables[1].Live < 580 {
		t.Errorf("b has %d items; want up to 600", r.Tables[1].Live)
	}
	if r.Counts.Dangling != 0 || r.Counts.Redundant != 0 || r.Counts.CancelledOut != 0 {
		t.Errorf("%v", r.Counts)
	}
	if r.Counts.Stale == 0 {
		t.Error("nothing that came through the inbox was stale; some items that it names must be gone")
	}
}

func TestSkewSendsCommandsToTheFirstShard(t *testing.T) {
	s := &Scenario{Ticks: 1, Tables: []Table{{Name: "a", Items: 80000, Bytes: 32, Shards: 8, Puts: 8000, Skew: 0.9}}}
	w := playedWorld(t, s, 1)
	puts := make([]int, 8)
	sum := 0
	for i, shard := range heads(t, w, 0) {
		for _, h := range shard {
			puts[i] += int(h.Puts)
			sum += int(h.Puts)
		}
	}
	if part := float64(puts[0]) / float64(sum); part < 0.87 || part > 0.93 || sum < 7500 || sum > 8500 {
		t.Errorf("the shards had %v puts; want about 7200 of 8000 for the first", puts)
	}
}

func TestLinksNameTheCreateBefore(t *testing.T) {
	s := &Scenario{Ticks: 1, Tables: []Table{{Name: "a", Bytes: 32, Shards: 3, Creates: 160, Links: 80}}}
	w := playedWorld(t, s, 2)
	linked := 0
	for _, shard := range heads(t, w, 0) {
		for _, h := range shard {
			if h.Link == 0 {
				continue
			}
			linked++
			to, ok := w.tables[0].read(h.Link)
			if !ok || to.Born != h.Born || h.Link.IsProvisional() {
				t.Errorf("an item of tick %d names %v, found %v of tick %d", h.Born, h.Link, ok, to.Born)
			}
		}
	}
	if linked != 160 {
		t.Errorf("%d items name another; want 160 of 320", linked)
	}
}

func TestPassesDoTheirSteps(t *testing.T) {
	s := &Scenario{Ticks: 1, Tables: []Table{{Name: "a", Items: 10, Bytes: 64, Shards: 1, Creates: 16, Links: 16}}, Passes: []Pass{{"a", 5, true}, {"a", 2, false}}}
	w := playedWorld(t, s, 3)
	want := func(born uint32, linked bool) uint64 {
		x := uint64(0)
		first := born + 1 // a tick's creates are there from the next tick on
		for range 3 - first + 1 {
			if x = steps(x, 5); linked {
				x++
			}
			x = steps(x, 2)
		}
		return x
	}
	for _, h := range heads(t, w, 0)[0] {
		if h.State != want(h.Born, h.Link != 0) {
			t.Errorf("an item of tick %d has state %x; want %x", h.Born, h.State, want(h.Born, h.Link != 0))
		}
	}
	if steps(1, 1) == steps(1, 2) || steps(1, 1) == 1 {
		t.Error("a step does nothing")
	}
}

func TestATableWithoutAPassGetsOneIfItNeedsIt(t *testing.T) {
	s := &Scenario{Tables: []Table{{Name: "a", Bytes: 32, Shards: 1, Puts: 1}, {Name: "b", Bytes: 32, Shards: 1, Creates: 1}, {Name: "c", Bytes: 32, Shards: 1, Erases: 1}}, Passes: []Pass{{"c", 9, false}, {"c", 8, false}}}
	w, err := newWorld(s, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []planned{{Pass{"c", 9, false}, 2, true}, {Pass{"c", 8, false}, 2, false}, {Pass{Table: "a"}, 0, true}}
	if len(w.plan) != len(want) {
		t.Fatalf("the plan is %+v; want %+v", w.plan, want)
	}
	for i := range want {
		if w.plan[i] != want[i] {
			t.Errorf("the plan is %+v; want %+v", w.plan, want)
		}
	}
}

func TestThePartsOfAllTasksAreTheWhole(t *testing.T) {
	for n := range 100 {
		sum := 0
		for task := range tasks {
			p := part(n, task)
			if sum += p; p < n/tasks || p > n/tasks+1 {
				t.Errorf("task %d has %d of %d", task, p, n)
			}
		}
		if sum != n {
			t.Errorf("the tasks have %d of %d", sum, n)
		}
	}
}
