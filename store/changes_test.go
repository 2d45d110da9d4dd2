package store_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"weak"

	"handloom/internal/check"
	"handloom/store"
)

type change struct {
	id    store.ID
	value item
}

func listed(seq itemSeq) (list []change) {
	for h, v := range seq {
		list = append(list, change{h.ID, *v})
	}
	return list
}

type changes struct{ created, erased, written []change }

func changesOf(table itemTable) changes {
	return changes{listed(store.Created(table)), listed(store.Erased(table)), listed(store.Written(table))}
}

func (c changes) equal(o changes) bool {
	return slices.Equal(c.created, o.created) && slices.Equal(c.erased, o.erased) && slices.Equal(c.written, o.written)
}

func tracked(t *testing.T, stable bool) (*store.Store, itemTable, changes) {
	t.Helper()
	s := newStore(t, store.Options{})
	table := registerKind(t, s, store.TableOptions[item]{Shards: 3, Changes: true}, stable)
	hs := fill(t, s, table, 9)
	q := queues(t, s, 1)[0]
	table.EmplaceItems(q, make([]item, 4), nil)
	table.EraseItems(q, hs[:3])
	table.Put(q, hs[5], item{Value: 5})
	table.Put(q, hs[8], item{Value: 8})
	flush(t, s)
	lists := changesOf(table)
	if len(lists.created) != 4 || len(lists.erased) != 3 || len(lists.written) != 2 {
		t.Fatalf("lists %v", lists)
	}
	return s, table, lists
}

// Lists end with the next frame that flushes or changes a tracked table at once.
func TestLists_CoverTheLastFrame(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for what, c := range map[string]struct {
			ends bool
			do   func(s *store.Store, table, other, plain itemTable, lists changes)
		}{
			"flush":           {true, func(s *store.Store, _, _, _ itemTable, _ changes) { flush(t, s) }},
			"flush of a pass": {true, func(s *store.Store, _, _, _ itemTable, _ changes) { queues(t, s, 2); flush(t, s) }},
			"Run without work": {true, func(s *store.Store, _, _, _ itemTable, _ changes) {
				noError(t, onlyError(newSchedule(t, s, store.System{Name: "idle", Run: nothing}).Run(t.Context())))
			}},
			"commands for another table": {true, func(s *store.Store, _, _, plain itemTable, _ changes) {
				plain.Emplace(queues(t, s, 1)[0], item{})
				flush(t, s)
			}},
			"commands without effect": {true, func(s *store.Store, table, _, _ itemTable, _ changes) {
				q := queues(t, s, 1)[0]
				table.Erase(q, table.Emplace(q, item{}))
				flush(t, s)
			}},
			"Insert into another": {true, func(s *store.Store, _, other, _ itemTable, _ changes) {
				write(t, s, func(w *store.Writer) { other.Insert(w, item{}) })
			}},
			"Rollback": {true, func(s *store.Store, _, _, _ itemTable, _ changes) {
				var c store.Checkpoint
				checkpoint(t, s, &c)
				rollback(t, s, &c)
			}},
			"Write that changes no tracked table": {false, func(s *store.Store, table, _, plain itemTable, lists changes) {
				write(t, s, func(w *store.Writer) {
					plain.Insert(w, item{})
					equal(t, "Remove of an erased item", table.Remove(w, handleOf(lists.erased[0].id)), false)
				})
			}},
			"flush that fails": {false, func(s *store.Store, table, _, _ itemTable, lists changes) {
				q := queues(t, s, 1)[0]
				table.EmplaceItems(q, make([]item, 10_000), nil)
				table.EraseItems(q, []store.Handle[item]{handleOf(lists.created[0].id), handleOf(lists.written[0].id)})
				table.Put(q, handleOf(lists.written[1].id), item{Value: 1})
				wantError(t, "", onlyError(s.Flush(endAfter(2))), context.Canceled)
				_ = s.Discard()
			}},
		} {
			s, table, lists := tracked(t, stable)
			other := registerKind(t, s, store.TableOptions[item]{Name: "other", Changes: true}, stable)
			plain := registerKind(t, s, store.TableOptions[item]{Name: "plain"}, stable)
			c.do(s, table, other, plain, lists)
			if c.ends {
				lists = changes{}
			}
			if got := changesOf(table); !got.equal(lists) {
				t.Errorf("after %s: %v, want %v", what, got, lists)
			}
		}
	})
}

func TestLists_MayBeLeftEarly(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s, table, _ := tracked(t, stable)
		for name, list := range map[string]itemSeq{"Created": store.Created(table), "Erased": store.Erased(table), "Written": store.Written(table)} {
			n := 0
			for range list {
				n++
				break
			}
			equal(t, name, n, 1)
		}
		noError(t, onlyError(s.Close(t.Context())))
		if got := changesOf(table); !got.equal(changes{}) {
			t.Errorf("after Close: %v", got)
		}
	})
}

func TestLists_PanicUnlessKept(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		table := registerKind(t, newStore(t, store.Options{}), store.TableOptions[item]{Name: "plain"}, stable)
		for name, list := range map[string]func(){
			"Created": func() { store.Created(table) },
			"Erased":  func() { store.Erased(table) },
			"Written": func() { store.Written(table) },
		} {
			want := name + ` of table "plain", which keeps no changes; register it with TableOptions.Changes`
			wantIn(t, name, panicOf(list), want)
		}
	})
}

// Erased values are reachable only while they are listed.
func TestErased_ReleasesValuesWithItsList(t *testing.T) {
	type big struct{ data *[1 << 16]byte }
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, keeps := range []bool{false, true} {
			s := newStore(t, store.Options{})
			table := registerKind(t, s, store.TableOptions[big]{Changes: keeps}, stable)
			other := registerKind(t, s, store.TableOptions[item]{Name: "other"}, stable)
			var erased []weak.Pointer[[1 << 16]byte]
			var names []store.Handle[big]
			func() {
				q := queues(t, s, 1)[0]
				for range 5 {
					data := new([1 << 16]byte)
					erased = append(erased, weak.Make(data))
					names = append(names, table.Emplace(q, big{data}))
				}
				flush(t, s)
				resolveAll(t, table, names)
			}()
			for _, step := range []struct {
				what   string
				record func(q store.Queue)
				left   func(i int) bool
			}{
				{"erasing four", func(q store.Queue) { table.EraseItems(q, names[:4]) }, func(i int) bool { return keeps || i == 4 }},
				{"erasing the last", func(q store.Queue) { table.Erase(q, names[4]) }, func(i int) bool { return keeps && i == 4 }},
				{"another flush", func(q store.Queue) { other.Emplace(q, item{}) }, func(int) bool { return false }},
			} {
				step.record(queues(t, s, 1)[0])
				flush(t, s)
				wrong := func() int {
					for i, data := range erased {
						if (data.Value() != nil) != step.left(i) {
							return i
						}
					}
					return -1
				}
				if !check.Collected(func() bool { return wrong() < 0 }) {
					t.Errorf("changes %t, after %s value %d: reachable, got %t", keeps, step.what, wrong(), !step.left(wrong()))
				}
			}
			runtime.KeepAlive(s)
		}
	})
}
