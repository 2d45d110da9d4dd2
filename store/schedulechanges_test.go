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
		s := newStore(t, store.Options{Workers: rapid.IntRange(1, 3).Draw(t, "workers")})
		table := register(t, s, store.TableOptions[item]{Name: "ships", Changes: true})
		column := store.AddColumn(table, store.ColumnOptions[int]{Name: "hull", Changes: true})
		other := register(t, s, store.TableOptions[item]{Name: "other"})
		var hs []store.Handle[item]
		noError(t, s.Write(t.Context(), func(w *store.Writer) {
			for range 8 {
				hs = append(hs, table.Insert(w, item{}))
			}
		}))
		emits := func(r store.Resource, record func(q store.Queue)) store.System {
			return store.System{Emits: on(r), Run: func(ctx context.Context) error { return s.Do(ctx, record) }}
		}
		write := func(ctx context.Context) error { return table.ForEach(ctx, func(c store.Chunk[item]) { c.Wrote(7) }) }
		kinds := map[string]func(n int) store.System{ // n earlier systems have the kind
			"created": func(int) store.System { return emits(table, func(q store.Queue) { table.Emplace(q, item{}) }) },
			"written": func(n int) store.System { return emits(table, func(q store.Queue) { table.Put(q, hs[n], item{}) }) },
			"set":     func(n int) store.System { return emits(column, func(q store.Queue) { column.Set(q, hs[n], 1) }) },
			"noted":   func(int) store.System { return store.System{Writes: on(table), Run: write} },
			"flush":   func(int) store.System { return store.System{Emits: on(other), Run: nothing} },
			"use":     func(int) store.System { return store.System{Reads: on(other), Run: nothing} },
		}
		var systems []store.System
		got, want := map[string]int{}, map[string]int{}
		for i, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))), 0, 6).Draw(t, "systems") {
			y := kinds[name](want[name])
			if want[name]++; name == "noted" {
				want[name] = 1 // the same item
			}
			y.Name = fmt.Sprint(name, i)
			systems = append(systems, y)
		}
		maps.DeleteFunc(want, func(name string, _ int) bool { return name == "flush" || name == "use" })
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
			clear(got)
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
