package store_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"handloom/internal/entrance"
	"handloom/store"
)

var (
	probePrograms = flag.Int("probes", 12, "random programs of TestProbe_MatchesOracle")
	probeSeed     = flag.Uint64("probe-seed", 1, "seed of the first random program of TestProbe_MatchesOracle")
)

func newProbe(t *testing.T, s *store.Store) entrance.Probe {
	t.Helper()
	p, err := s.Entrance(entrance.Key{}).NewProbe()
	noError(t, err)
	t.Cleanup(p.Close)
	return p
}

// Every change that a probe reports equals the change that an oracle finds, which copies the whole
// state at every boundary, and the state is the same as without a probe.
func TestProbe_MatchesOracle(t *testing.T) {
	kinds, programs := make(map[string]int), uint64(*probePrograms)
	if testing.Short() {
		programs = min(programs, 3)
	}
	for seed := *probeSeed; seed < *probeSeed+programs; seed++ {
		const ticks = 12
		w := newProbeWorld(t, seed, true)
		for range ticks {
			w.tick()
		}
		want := digest(t, w.Store)
		r := rand.New(rand.NewPCG(seed, 1))
		for range 8 {
			target := w.seen[r.IntN(len(w.seen))].probeCell
			var all []entrance.Change
			for _, seen := range w.seen {
				whole := target.field == "" && probeOrder(seen.field) <= 4
				if seen.id == target.id && (whole || seen.field == target.field) {
					all = append(all, seen.change)
					kinds[seen.change.By.Kind]++
				}
			}
			compareProbe(t, fmt.Sprintf("seed %d, item %v, field %q", seed, target.id, target.field), probed(t, seed, ticks, target, want), all)
			if t.Failed() {
				return
			}
		}
	}
	if len(kinds) < 7 {
		t.Errorf("the programs had only %v", kinds)
	}
}

// probed runs a program with a probe, and again to find the lines.
func probed(t *testing.T, seed uint64, ticks int, target probeCell, want uint64) []entrance.Change {
	changes := make([][]entrance.Change, ticks)
	for _, locates := range []bool{false, true} {
		w := newProbeWorld(t, seed, false)
		p := newProbe(t, w.Store)
		noError(t, p.Watch(uint64(target.id), target.field))
		for tick := range ticks {
			if locates {
				p.Locate(causesOf(changes[tick]))
			}
			w.tick()
			got := p.Take()
			if locates {
				equal(t, "changes of the second run", len(got), len(changes[tick]))
			} else {
				changes[tick] = got
			}
		}
		equal(t, "the state with a probe", digest(t, w.Store), want)
	}
	return slices.Concat(changes...)
}

func causesOf(changes []entrance.Change) (all []*entrance.Cause) {
	for i := range changes {
		all = append(all, &changes[i].By)
		for k := range changes[i].Lost {
			all = append(all, &changes[i].Lost[k])
		}
	}
	return all
}

// compareProbe compares changes, and the lines of commands: each is logged on its line or the next.
func compareProbe(t *testing.T, what string, got, want []entrance.Change) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Errorf("%s: %d changes, want %d", what, len(got), len(want))
			return
		}
		g, w := got[i], want[i]
		g.Lost, w.Lost = slices.Clone(g.Lost), slices.Clone(w.Lost)
		gs, ws := causesOf([]entrance.Change{g}), causesOf([]entrance.Change{w})
		gs[0], ws[0] = &g.By, &w.By
		for k := range min(len(gs), len(ws)) {
			if n, err := strconv.Atoi(ws[k].Where); err == nil && ws[k].Pass >= 0 {
				line := func(n int) string { return fmt.Sprint("probeworld_test.go:", n) }
				if where := gs[k].Where; where != line(n) && where != line(n-1) {
					t.Errorf("%s: change %d by %+v, want line %d", what, i, *gs[k], n)
				}
			}
		}
		for _, c := range slices.Concat(gs, ws) {
			c.Where, c.Place = "", nil
		}
		if len(g.Lost)+len(w.Lost) == 0 {
			g.Lost, w.Lost = nil, nil
		}
		if !reflect.DeepEqual(g, w) {
			t.Errorf("%s: change %d:\n%+v, want\n%+v", what, i, g, w)
			return
		}
	}
}

func TestProbe_RefusesUnknownItemsAndFields(t *testing.T) {
	w := newProbeWorld(t, 1, false)
	slots := register(t, w.Store, store.TableOptions[struct{ Slots [2]int32 }]{Name: "slots"})
	p := newProbe(t, w.Store)
	unit, array := compose(w.typeOf("units"), 1, 0), compose(w.typeOf(slots.Name()), 1, 0)
	const fields = `want one of "A" "Name" "Pos" "Next" "weight" "height" "mark"`
	for _, c := range []struct {
		id    store.ID
		field string
		want  string
	}{
		{0, "", "no table has an item 0:0.0"},
		{compose(9000, 1, 0), "", "no table has an item 9000:0.1"},
		{unit | 1<<63, "", "no table has an item"},
		{unit, "B", `unknown field "B" of table "units", ` + fields},
		{unit, "Pos.Z", fields},
		{unit, "Name.X", fields},
		{unit, "weight.X", fields},
		{unit, "A", ""},
		{unit, "Pos.Y", ""},
		{unit, "mark", ""},
		{array, "Slots.1", ""},
		{array, "Slots.2", `want one of "Slots"`},
		{array, "Slots.-1", `want one of "Slots"`},
	} {
		if err := p.Watch(uint64(c.id), c.field); c.want != "" || err != nil {
			wantText(t, c.field, err, c.want)
		}
	}
	noError(t, w.Read(t.Context(), func(context.Context) error {
		_, err := w.Entrance(entrance.Key{}).NewProbe()
		wantError(t, "inside a Read", err, store.ErrPhase)
		return nil
	}))
}

// A Rollback is no change, and drops the changes that it undoes.
func TestProbe_RollbackDropsChanges(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items"})
	h := fill(t, s, table, 1)[0]
	p := newProbe(t, s)
	noError(t, p.Watch(uint64(h.ID), "Value"))
	var before store.Checkpoint
	_, err := s.Frame(t.Context(), func(ctx context.Context, _ *store.Writer) error {
		noError(t, s.Checkpoint(ctx, &before))
		table.At(h).Value = 5
		noError(t, s.Rollback(ctx, &before))
		table.At(h).Value = 6
		return nil
	})
	noError(t, err)
	all := p.Take()
	if len(all) != 1 || all[0].From != "0" || all[0].To != "6" || all[0].By.Phase != "between Rollback and flush 0" {
		t.Errorf("changes %+v, want 0 -> 6 between Rollback and flush 0", all)
	}
}

// The first operation on a table in a Write takes another path than the others.
func TestProbe_SeesLaterOperationsOfAWriter(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "items"})
	data := addSparse(t, table, store.ColumnOptions[int]{Name: "data"})
	h := fill(t, s, table, 1)[0]
	p := newProbe(t, s)
	noError(t, p.Watch(uint64(h.ID), "data"))
	noError(t, s.Write(t.Context(), func(w *store.Writer) {
		for v := range 3 {
			data.Put(w, h, v+1)
		}
	}))
	if all := p.Take(); len(all) != 3 || all[1].From != "1" || all[1].To != "2" || all[1].By.Kind == "in place" {
		t.Errorf("changes %+v, want three, none in place", all)
	}
}
