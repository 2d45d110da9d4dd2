package store_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handloom/internal/check"
	"handloom/store"
)

func newStable(t tb, o store.Options, to store.TableOptions[item]) (*store.Store, *store.StableTable[item]) {
	t.Helper()
	s := newStore(t, o)
	return s, registerStable(t, s, to)
}

type score struct {
	Goals int64
	By    store.Handle[item]
}

func newValue(t tb, s *store.Store, name string) *store.Value[score] {
	t.Helper()
	return store.AddValue(s, store.ColumnOptions[score]{Name: name})
}

func TestValue_IsLoadedByName(t *testing.T) {
	ctx := t.Context()
	without := newStore(t, store.Options{})
	register(t, without, store.TableOptions[item]{Name: "item"})
	older := image(t, without)

	newer := newStore(t, store.Options{})
	register(t, newer, store.TableOptions[item]{Name: "item"})
	v := newValue(t, newer, "score")
	v.Get().Goals = 7
	noError(t, newer.Load(ctx, bytes.NewReader(older)))
	equal(t, "after a snapshot without the value", *v.Get(), score{})
	noError(t, newer.Verify(ctx))

	for _, items := range []int{0, 1, 2} {
		forged := newStore(t, store.Options{})
		register(t, forged, store.TableOptions[item]{Name: "item"})
		table := registerStable(t, forged, store.TableOptions[score]{Name: "score", TypeID: 32766})
		noError(t, forged.Write(ctx, func(w *store.Writer) {
			h := table.Insert(w, score{})
			for range items {
				table.Insert(w, score{}) // not in the slot of a value
			}
			if items < 2 {
				table.Remove(w, h)
			}
		}))
		v.Get().Goals = 7
		wantError(t, "Load of a value without its item, with another one, or with three", newer.Load(ctx, bytes.NewReader(image(t, forged))), store.ErrSnapshot)
		equal(t, "after a Load that failed", *v.Get(), score{Goals: 7})
	}
}

func TestValue_DoesNotShiftTypeIDs(t *testing.T) {
	handles := func(values int) []store.Handle[item] {
		s := newStore(t, store.Options{})
		for i := range values {
			newValue(t, s, string(rune('a'+i)))
		}
		table := register(t, s, store.TableOptions[item]{Shards: 3})
		return fill(t, s, table, 10)
	}
	equalLists(t, "handles beside values", handles(5), handles(0)...)
}

func TestValue_IsAResource(t *testing.T) {
	s := newStore(t, store.Options{Workers: 4})
	v := newValue(t, s, "score")
	frame := newSchedule(
		t, s,
		store.System{Name: "add", Writes: on(v), Run: func(context.Context) error { v.Get().Goals++; return nil }},
		store.System{Name: "double", Writes: on(v), Run: func(context.Context) error { v.Get().Goals *= 2; return nil }},
	)
	for range 5 {
		noError(t, onlyError(frame.Run(t.Context())))
	}
	equal(t, "after five frames of one after the other", v.Get().Goals, 62)
	noError(t, onlyError(s.Close(t.Context())))
	equal(t, "Get of a closed store", v.Get(), nil)
}

func TestValue_UndeclaredGetNamesIt(t *testing.T) {
	s := newStore(t, store.Options{})
	v := newValue(t, s, "score")
	_, err := newSchedule(t, s, store.System{Name: "x", Run: func(context.Context) error { v.Get(); return nil }}).Run(t.Context())
	if check.Cheap {
		wantError(t, "Run", err, store.ErrPhase, `Get of value "score"`)
	}
}

// container is a table or sparse data: a Writer adds to it and removes from it.
type container struct {
	all    func() itemSeq
	insert func(w *store.Writer, v uint64)
	remove func(w *store.Writer, h store.Handle[item]) bool
}

func containers(t tb) (*store.Store, map[string]container) {
	s := newStore(t, store.Options{Workers: 1})
	all := map[string]container{}
	add := func(name string, table itemTable) {
		all[name] = container{
			table.All,
			func(w *store.Writer, v uint64) { table.Insert(w, item{Value: v}) },
			table.Remove,
		}
	}
	addSparse := func(name string, table itemTable, ofItem bool) {
		data := store.AddSparse(table, store.ColumnOptions[item]{Name: "data"})
		remove := data.Remove
		if ofItem {
			remove = table.Remove
		}
		all[name] = container{
			data.All,
			func(w *store.Writer, v uint64) { data.Put(w, table.Insert(w, item{}), item{Value: v}) },
			remove,
		}
	}
	for name, stable := range map[string]bool{"packed": false, "stable": true} {
		kind := func(name string, shards int) itemTable {
			return registerKind(t, s, store.TableOptions[item]{Name: name, Shards: shards}, stable)
		}
		add(name, kind(name, 1))
		add(name+" shards", kind(name+" shards", 3))
		addSparse("sparse of "+name, kind("sparse of "+name, 1), false)
		addSparse("sparse of shards of "+name, kind("sparse of shards of "+name, 3), false)
		addSparse("sparse of erased "+name, kind("sparse of erased "+name, 1), true)
	}
	columns := register(t, s, store.TableOptions[item]{Name: "columns"})
	store.AddColumn(columns, store.ColumnOptions[uint64]{Name: "column"})
	add("columns", packedTable{columns})
	return s, all
}

func TestTable_AllFollowsRemovalOfTheCurrent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, all := containers(t)
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(t, "container")
		c := all[name]
		steps := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ri")), 0, 3, -1), 1, 80).Draw(t, "steps")
		first := rapid.IntRange(0, 40).Draw(t, "first")
		noError(t, s.Write(t.Context(), func(w *store.Writer) {
			model, inserted := map[uint64]bool{}, uint64(0)
			insert := func() {
				c.insert(w, inserted)
				model[inserted] = true
				inserted++
			}
			for range first {
				insert()
			}
			visited := map[uint64]bool{}
			for h, v := range c.all() {
				value := v.Value
				if visited[value] || !model[value] || len(visited) > 200*first {
					t.Fatalf("%s: visits %d after %d items; before: %t", name, value, len(visited), visited[value])
				}
				step := ""
				if len(visited) < len(steps) {
					step = steps[len(visited)]
				}
				visited[value] = true
				v.Links[0] = 1 // not lost by growth
				for _, do := range step {
					switch do {
					case 'r':
						equal(t, name+": the current item was removed", c.remove(w, h), model[value])
						delete(model, value)
					case 'i':
						insert()
					}
				}
			}
			for value := range uint64(first) {
				equal(t, name+": the item was visited", visited[value], true)
			}
			left := map[uint64]bool{}
			for _, v := range c.all() {
				left[v.Value] = true
				equal(t, name+": the write remains", v.Links[0] == 1, visited[v.Value])
			}
			equal(t, name+": the items left", maps.Equal(left, model), true)
		}))
	})
}

func TestTable_AllEndsIfItemsAreReplaced(t *testing.T) {
	s, all := containers(t)
	for name, c := range all {
		noError(t, s.Write(t.Context(), func(w *store.Writer) {
			for v := range uint64(9) {
				c.insert(w, v)
			}
			visits := 0
			for h := range c.all() {
				c.remove(w, h)
				c.insert(w, 10)
				if visits++; visits > 1000 {
					t.Fatalf("%s: All does not end", name)
				}
			}
		}))
	}
}

func TestSparse_AllAllowsDataToReturn(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	data := store.AddSparse(table, store.ColumnOptions[item]{Name: "data"})
	noError(t, s.Write(t.Context(), func(w *store.Writer) {
		for range 5 {
			data.Put(w, table.Insert(w, item{}), item{})
		}
		visits := map[store.Handle[item]]int{}
		for h := range data.All() {
			visits[h]++
			equal(t, "visits, with the first data or the second", visits[h] <= 2, true)
			data.Remove(w, h)
			data.Put(w, h, item{})
		}
		equal(t, "items visited", len(visits), 5)
	}))
}

// misuse changes the container during an iteration whose current item is hs[i].
type misuse func(ctx context.Context, w *store.Writer, hs []store.Handle[item], i int)

func TestTable_AllPanicsAfterOtherChanges(t *testing.T) {
	const items = 12
	for _, shards := range []int{1, 3} {
		s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Shards: shards})
		data := store.AddSparse(table, store.ColumnOptions[item]{Name: "data"})
		insert := func(w *store.Writer) store.Handle[item] {
			h := table.Insert(w, item{})
			data.Put(w, h, item{})
			return h
		}
		byLess := func(a, b *item) int { return int(b.Links[0]) - int(a.Links[0]) }
		both := map[string]misuse{
			"removal of an item of any shard": func(_ context.Context, w *store.Writer, hs []store.Handle[item], i int) {
				table.Remove(w, hs[(i+1)%items])
			},
			"replacement of another item": func(_ context.Context, w *store.Writer, hs []store.Handle[item], i int) {
				table.Remove(w, hs[(i+shards)%items])
				insert(w)
			},
			"removal of two items": func(_ context.Context, w *store.Writer, hs []store.Handle[item], i int) {
				table.Remove(w, hs[i])
				table.Remove(w, hs[(i+shards)%items])
			},
			"removal of another item after an insert": func(_ context.Context, w *store.Writer, hs []store.Handle[item], i int) {
				insert(w)
				table.Remove(w, hs[(i+shards)%items])
			},
			"Clear and inserts": func(_ context.Context, w *store.Writer, _ []store.Handle[item], _ int) {
				table.Clear(w)
				for range items {
					insert(w)
				}
			},
			"a flush": func(ctx context.Context, _ *store.Writer, hs []store.Handle[item], i int) {
				noError(t, s.Do(ctx, func(q store.Queue) { table.Erase(q, hs[(i+shards)%items]) }))
				noError(t, onlyError(s.Flush(ctx)))
			},
		}
		ofTable, ofData := maps.Clone(both), maps.Clone(both)
		ofTable["SortFunc"] = func(ctx context.Context, w *store.Writer, _ []store.Handle[item], _ int) {
			noError(t, store.SortFunc(ctx, table, w, byLess))
		}
		ofTable["Defragment"] = func(ctx context.Context, w *store.Writer, _ []store.Handle[item], _ int) {
			_, _, err := store.Defragment(ctx, table, w, byLess, 0)
			noError(t, err)
		}
		ofData["Remove"] = func(_ context.Context, w *store.Writer, hs []store.Handle[item], i int) {
			data.Remove(w, hs[(i+1)%items])
		}
		for _, c := range []struct {
			what    string
			all     itemSeq
			changes map[string]misuse
		}{{"table", table.All(), ofTable}, {"sparse data", data.All(), ofData}} {
			for name, change := range c.changes {
				for at := range items {
					noError(t, onlyError(s.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error {
						table.Clear(w)
						var hs []store.Handle[item]
						for i := range items {
							hs = append(hs, insert(w))
							table.At(hs[i]).Links[0] = store.ID(i)
						}
						visits := 0
						message := panicOf(func() {
							for h := range c.all {
								if visits++; visits == at+1 {
									change(ctx, w, hs, slices.Index(hs, h))
								}
							}
						})
						wantIn(t, fmt.Sprintf("All of %s of %d shards, %s at step %d", c.what, shards, name, at), message, "remove only the current item")
						return nil
					})))
				}
			}
		}
	}
}
