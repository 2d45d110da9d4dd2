package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

func newSchedule(t tb, s *store.Store, systems ...store.System) *store.Schedule {
	t.Helper()
	return store.NewSchedule(s, systems...)
}

func on(r ...store.Resource) []store.Resource { return r }

func nothing(context.Context) error { return nil }

func TestRun_CommandsFollowSystemOrder(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 3}, store.TableOptions[item]{})
	h := fill(t, s, table, 1)[0]
	stale := compose(1, 7, 1)
	put := func(value uint64) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			return s.Do(ctx, func(q store.Queue) {
				table.Put(q, h, item{Value: value})
				table.Emplace(q, item{Value: value})
				q.Erase(stale)
			})
		}
	}
	c := newSchedule(
		t, s,
		store.System{Name: "a", Emits: on(table), After: []string{"c"}, Run: put(4)}, // in the second wave, for After
		store.System{Name: "b", Emits: on(table), Run: put(2)},
		store.System{Name: "c", Emits: on(table), Run: put(3)},
		store.System{Name: "d", Emits: on(table), Run: put(5)},
	)
	noError(t, s.Shuffle(3))
	for range 20 {
		report, err := c.Run(t.Context())
		noError(t, err)
		equal(t, "report.Total", report.Total, batch.Counts{Created: 4, Put: 1, Superseded: 3, Stale: 4})
		for i, sample := range report.Stale {
			equal(t, "pass of a stale erase", sample.Pass, i)
		}
		all := values(table)
		if last := all[len(all)-4:]; all[0] != 5 || !slices.Equal(last, []uint64{2, 3, 4, 5}) {
			t.Fatalf("the put of %d won, and the items came as %v", all[0], last)
		}
	}
}

func TestSystems_OfAWaveRunConcurrently(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	fill(t, s, table, 10)
	fill(t, s, other, 10)
	var both sync.WaitGroup
	age := func(table *store.Table[item]) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			return table.ForEach(ctx, func(c store.Chunk[item]) {
				c.Items[0].Value++
				both.Done()
				both.Wait() // for the pass of the other system, or the test hangs
			})
		}
	}
	c := newSchedule(
		t, s, store.System{Name: "a", Writes: on(table), Run: age(table)},
		store.System{Name: "b", Writes: on(other), Run: age(other)},
	)
	for range 50 {
		both.Add(2)
		noError(t, onlyError(c.Run(t.Context())))
	}
	equal(t, "values(table)[0]", values(table)[0], 50)
	equal(t, "values(other)[0]", values(other)[0], 50)
}

// Commands that a system does not declare wait for the next flush, whatever other systems record.
func TestRun_KeepsUndeclaredCommands(t *testing.T) {
	if check.Cheap {
		t.Skip("a checked build refuses them")
	}
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	c := newSchedule(t, s, store.System{Name: "silent", Run: nothing}, store.System{Name: "records", Run: emplace(s, table, 7)})
	noError(t, onlyError(c.Run(t.Context())))
	equal(t, "items after Run", table.Len(), 0)
	wantFlush(t, s, batch.Counts{Created: 1})
}

func TestSchedule_NamesItsTables(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "ports"})
	c := newSchedule(
		t, s,
		store.System{Name: "sail", Writes: on(packedTable{table}, store.Other("wind")), Run: nothing},
		store.System{Name: "dock", Reads: on(table), Writes: on(stable), Run: nothing},
		store.System{Name: "blow", Reads: on(store.Other("wind")), Emits: on(stable), Run: nothing},
	)
	wantIn(t, "Explain", c.Explain(), "ships, which sail writes")
	noError(t, onlyError(c.Run(t.Context())))
	if timings := c.Timings(); len(timings) != 3 || timings[2].System != "blow" || timings[2].Runs != 1 {
		t.Errorf("%+v", timings)
	}
	systems := c.Systems()
	if len(systems) != 3 || systems[0].Name != "sail" || systems[2].Emits[0].Name() != "ports" {
		t.Errorf("%+v", systems)
	}
	systems[0].Name = "drift"
	equal(t, "name after a write to the slice that Systems returned", c.Systems()[0].Name, "sail")
}

func TestRun_AllocatesAConstant(t *testing.T) {
	if check.Cheap {
		t.Skip("a checked build allocates")
	}
	for _, items := range []int{500, 20_000} {
		s := newStore(t, store.Options{Workers: 2})
		table := workPacked(t, s, store.TableOptions[item]{Shards: 2, ChunkItems: chunkItems})
		table.EmplaceItems(queues(t, s, 1)[0], make([]item, items), nil)
		flush(t, s)
		flushes := newSchedule(
			t, s, store.System{Name: "age", Writes: on(table), Emits: on(table), Run: table.age},
			store.System{Name: "count", Reads: on(table), Run: table.count},
			store.System{Name: "mean", Reads: on(table), Run: table.mean},
			store.System{Name: "idle", Writes: on(table), Run: nothing},
		)
		visit := func(store.Chunk[item]) {}
		passes := newSchedule(t, s, store.System{Name: "pass", Writes: on(table), Run: func(ctx context.Context) error {
			return table.itemTable.(packedTable).ForEach(ctx, visit)
		}})
		noError(t, s.Team(t.Context(), func(ctx context.Context) error {
			for c, most := range map[*store.Schedule]uint64{flushes: 9, passes: 3} {
				n := allocations(ctx, func(ctx context.Context) {
					wantError(t, "", onlyError(c.Run(ctx)), nil)
				})
				atMost(t, fmt.Sprintf("objects of %d items", items), n, frameCount*most+slack)
			}
			return nil
		}))
	}
}

func TestSystems_AreShuffled(t *testing.T) {
	s := newStore(t, store.Options{Workers: 1})
	noError(t, s.Shuffle(8))
	var order string
	var systems []store.System
	for _, name := range []string{"a", "b", "c", "d"} {
		systems = append(systems, store.System{Name: name, Run: func(context.Context) error {
			order += name
			return nil
		}})
	}
	c := newSchedule(t, s, systems...)
	seen := map[string]bool{}
	for range 100 {
		order = ""
		noError(t, onlyError(c.Run(t.Context())))
		seen[order] = true
	}
	atLeast(t, "orders of 24 in 100 frames", len(seen), 12)
}

func TestSystems_AloneUseAllWorkers(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{ChunkItems: 1})
	fill(t, s, table, 2)
	var reading, writing sync.WaitGroup
	meet := func(both *sync.WaitGroup) {
		both.Done()
		both.Wait() // for the other chunk, or the test hangs
	}
	reading.Add(2)
	writing.Add(2)
	c := onlySystem(t, s, table, func(ctx context.Context) error {
		_, err := store.Reduce(ctx, table, func(store.Chunk[item]) int {
			meet(&reading)
			return 0
		}, addInt)
		return errors.Join(err, table.ForEach(ctx, func(store.Chunk[item]) {
			meet(&writing)
		}))
	})
	noError(t, onlyError(c.Run(t.Context())))
}

func TestSchedule_UsesAllResources(t *testing.T) {
	s := newStore(t, store.Options{})
	var r []store.Resource
	for i := range 6 {
		r = append(r, register(t, s, store.TableOptions[item]{Name: fmt.Sprint(i)}))
	}
	systems := []store.System{{Name: "it", Reads: r[:2], Writes: r[2:4], Emits: r[4:], Run: nothing}}
	for i := range r {
		systems = append(systems, store.System{Name: fmt.Sprint("writes ", i), Writes: r[i : i+1], Run: nothing})
	}
	first, second, _ := strings.Cut(newSchedule(t, s, systems...).Explain(), "wave 2")
	equal(t, "systems in the first wave: "+first, strings.Count(first, "\n  writes "), 0)
	equal(t, "a third wave", strings.Contains(second, "wave 3"), false)
}

func onlySystem(t tb, s *store.Store, table *store.Table[item], run func(ctx context.Context) error) *store.Schedule {
	t.Helper()
	return newSchedule(t, s, store.System{Name: "only", Writes: on(table), Emits: on(table), Run: run})
}

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
