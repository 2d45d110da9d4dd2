package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

// A reader of the lists sees what all systems of its frame changed, whatever other systems
// flush before.
func TestChangesOf_AreCompleteForTheFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStore(t, store.Options{Workers: 1}) // parallel systems would share want
		table := register(t, s, store.TableOptions[item]{Name: "ships", Changes: true})
		column := store.AddColumn(table, store.ColumnOptions[int]{Name: "hull", Changes: true})
		other := register(t, s, store.TableOptions[item]{Name: "other"})
		var hs []store.Handle[item]
		noError(t, s.Write(t.Context(), func(w *store.Writer) {
			for range 8 {
				hs = append(hs, table.Insert(w, item{}))
			}
		}))
		var got, want map[string]int
		kinds := map[string]store.System{
			"emplace": {Emits: on(table), Run: func(ctx context.Context) error {
				return s.Do(ctx, func(q store.Queue) { table.Emplace(q, item{}); want["created"]++ })
			}},
			"put": {Emits: on(table), Run: func(ctx context.Context) error {
				return s.Do(ctx, func(q store.Queue) { table.Put(q, hs[want["written"]], item{}); want["written"]++ })
			}},
			"write": {Writes: on(table), Run: func(ctx context.Context) error {
				return table.ForEach(ctx, func(c store.Chunk[item]) { c.Wrote(7); want["noted"] = 1 })
			}},
			"set": {Emits: on(column), Run: func(ctx context.Context) error {
				return s.Do(ctx, func(q store.Queue) { column.Set(q, hs[want["set"]], 1); want["set"]++ })
			}},
			"flush": {Emits: on(other), Run: nothing},
			"use":   {Reads: on(other), Run: nothing},
		}
		names := slices.Sorted(maps.Keys(kinds))
		var systems []store.System
		for i, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 6).Draw(t, "systems") {
			y := kinds[name]
			y.Name = fmt.Sprint(name, i)
			systems = append(systems, y)
		}
		reader := store.System{Name: "reader", Reads: on(store.ChangesOf(table)), Run: func(context.Context) error {
			for range store.Created(table) {
				got["created"]++
			}
			for h := range store.Written(table) {
				if h == hs[7] {
					got["noted"]++
				} else {
					got["written"]++
				}
			}
			for range column.Written() {
				got["set"]++
			}
			return nil
		}}
		at := rapid.IntRange(0, len(systems)).Draw(t, "at")
		all := slices.Insert(slices.Clone(systems), at, reader)
		follows := func(y store.System) bool {
			return slices.Contains(y.Emits, store.Resource(table)) || slices.Contains(y.Emits, store.Resource(column)) || len(y.Writes) > 0
		}
		if late := slices.IndexFunc(systems[at:], follows); late >= 0 {
			name := systems[at+late].Name
			wantIn(t, "a writer follows", panicOf(func() { store.NewSchedule(s, all...) }),
				fmt.Sprintf(`system "reader" reads the changes of ships, which system %q changes later; list %q before it`, name, name))
			return
		}
		c := store.NewSchedule(s, all...)
		for range 2 {
			got, want = map[string]int{}, map[string]int{}
			if !slices.ContainsFunc(systems, follows) {
				break // the lists are of the last frame until one flushes
			}
			noError(t, onlyError(c.Run(t.Context())))
			if !maps.Equal(got, want) {
				t.Fatalf("the lists have %v, want %v\n%s", got, want, c.Explain())
			}
		}
	})
}

func TestChangesOf_Explained(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[item]{Name: "ships", Changes: true})
	c := store.NewSchedule(s, store.System{Name: "move", Writes: on(table), Run: nothing},
		store.System{Name: "view", Reads: on(store.ChangesOf(table)), Run: nothing})
	equal(t, "Explain", c.Explain(), `wave 1
  move
flush
    view reads changes of ships, which move emits
wave 2
  view
    reads ships, which move writes
    reads changes of ships, which move emits
`)
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	wantIn(t, "without Changes", panicOf(func() { store.ChangesOf(other) }), `ChangesOf of table "other", which keeps no changes`)
	wantIn(t, "in Writes", panicOf(func() {
		store.NewSchedule(s, store.System{Name: "a", Writes: on(store.ChangesOf(table)), Run: nothing})
	}), `system "a": the changes of ships only belong in Reads; write or emit to the table`)
}
