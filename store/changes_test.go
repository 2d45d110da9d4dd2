package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
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

// notePass increments and notes the items that pick selects, and notes chunks that all selects
// as a whole.
func notePass(ctx context.Context, table itemTable, pick func(h store.Handle[item]) bool, all func(chunk int) bool) error {
	switch t := table.(type) {
	case packedTable:
		return t.ForEach(ctx, func(c store.Chunk[item]) {
			for i := range c.Items {
				if pick(c.Handle(i)) {
					c.Items[i].Value++
					c.Wrote(i)
				}
			}
			if all(c.Index) {
				c.WroteAll()
			}
		})
	case stableTable:
		return t.ForEach(ctx, func(c store.StableChunk[item]) {
			for h, v := range c.All() {
				if picked := pick(h); picked || all(c.Index) {
					if picked {
						v.Value++
					}
					c.Wrote(h)
				}
			}
		})
	}
	panic("no such table")
}

func noChunk(int) bool { return false }

func among(hs ...store.Handle[item]) func(store.Handle[item]) bool {
	return func(h store.Handle[item]) bool { return slices.Contains(hs, h) }
}

func writtenOf(table itemTable) []store.Handle[item] { return handlesIn(store.Written(table)) }

func handlesIn[T, C any](list iter.Seq2[store.Handle[T], *C]) (hs []store.Handle[T]) {
	for h := range list {
		hs = append(hs, h)
	}
	return hs
}

// A Rollback empties lists of passes before a frame, also if only one of their tables is written again.
func TestWritten_EndsAfterARollback(t *testing.T) {
	s := newStore(t, store.Options{})
	var tables []itemTable
	for _, name := range []string{"first", "second"} {
		tables = append(tables, packedTable{register(t, s, store.TableOptions[item]{Name: name, Changes: true})})
		tables[len(tables)-1].Emplace(queues(t, s, 1)[0], item{})
	}
	flush(t, s)
	writeAll := func(table itemTable) {
		noError(t, notePass(t.Context(), table, func(store.Handle[item]) bool { return true }, noChunk))
	}
	var c store.Checkpoint
	checkpoint(t, s, &c)
	writeAll(tables[0])
	writeAll(tables[1])
	rollback(t, s, &c)
	writeAll(tables[1])
	for frame, want := range []int{1, 1, 0} { // until the end of the next frame
		runFrame(t, s, func(context.Context, *store.Writer) error {
			equal(t, "items of the first table", len(writtenOf(tables[0])), 0)
			equal(t, fmt.Sprint("items of the second table in frame ", frame), len(writtenOf(tables[1])), want)
			return nil
		})
	}
}

func TestWrote_OutsideTheChunkPanics(t *testing.T) {
	for _, changes := range []bool{false, true} {
		s := newStore(t, store.Options{})
		packed := register(t, s, store.TableOptions[item]{ChunkItems: 2, Changes: changes})
		stable := registerStable(t, s, store.TableOptions[item]{Name: "stable", ChunkItems: 2, Changes: changes})
		q := queues(t, s, 1)[0]
		packed.EmplaceItems(q, make([]item, 4), nil)
		stable.EmplaceItems(q, make([]item, 4), nil)
		flush(t, s)
		refuses := func(want string, f func()) {
			t.Helper()
			if got := panicOf(f); got == "" || !strings.Contains(got, want) {
				t.Errorf("changes %t: %q; want %q", changes, got, want)
			}
		}
		var kept store.Chunk[item]
		var keptStable store.StableChunk[item]
		err := packed.ForEach(t.Context(), func(c store.Chunk[item]) {
			refuses("out of range", func() { c.Wrote(2) })
			refuses("out of range", func() { c.Wrote(-1) })
			if c.Index == 0 {
				kept = c
			}
		})
		err2 := stable.ForEach(t.Context(), func(c store.StableChunk[item]) {
			for _, id := range []store.ID{compose(2, 1, uint32(2-2*c.Index)), compose(2, 2, uint32(2*c.Index)), compose(1, 1, uint32(2*c.Index)), 0} {
				refuses(fmt.Sprintf("Wrote of %v, which is not in chunk %d of table \"stable\"", id, c.Index), func() { c.Wrote(handleOf(id)) })
			}
			if c.Index == 0 {
				keptStable = c
			}
		})
		noError(t, errors.Join(err, err2))
		refuses(`Wrote of chunk 0 of table "store_test.item": kept past its pass`, func() { kept.Wrote(0) })
		refuses("WroteAll of chunk 0", func() { kept.WroteAll() })
		refuses("Wrote of chunk 0", func() { keptStable.Wrote(handleOf(compose(2, 1, 0))) })
	}
}

func TestWrote_AllocatesNothing(t *testing.T) {
	plainBuild(t)
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Shards: 2, ChunkItems: 64, Changes: true})
	fill(t, s, table, 20_000)
	pass := func(ctx context.Context) {
		err := table.ForEach(ctx, func(c store.Chunk[item]) {
			for i := 0; i < len(c.Items); i += 3 {
				c.Wrote(i)
			}
			if c.Index%5 == 0 {
				c.WroteAll()
			}
		})
		wantError(t, "", err, nil)
		if _, err = s.Flush(ctx); err != nil {
			t.Error(err)
		}
	}
	atMost(t, "objects", allocations(t.Context(), pass), 2*frameCount+slack)
}

func TestWritten_IsFreedWhenIdle(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	const n = 400_000
	for _, what := range []string{"items", "column"} {
		t.Run(what, func(t *testing.T) {
			s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Changes: true})
			column := addColumn(t, table, store.ColumnOptions[uint32]{Name: "x", Changes: true})
			other := register(t, s, store.TableOptions[item]{Name: "other"})
			table.EmplaceItems(queues(t, s, 1)[0], make([]item, n), nil)
			flush(t, s)
			rest := func() {
				for range 300 {
					other.Put(queues(t, s, 1)[0], store.Handle[item]{}, item{})
					flush(t, s)
				}
			}
			pass := func() error {
				return notePass(t.Context(), packedTable{table}, among(), func(int) bool { return true })
			}
			written := func() int { return len(writtenOf(packedTable{table})) }
			if what == "column" {
				note := func(c store.Chunk[item]) {
					for i := range column.Write(c) {
						column.Wrote(c, i)
					}
				}
				pass = func() error {
					return errors.Join(table.ForEachRows(t.Context(), note), table.ForEach(t.Context(), note))
				}
				written = func() int { return len(handlesIn(column.Written())) }
			}
			givesBack(t, what, 2, rest, func() {
				wantError(t, "the pass", pass(), nil)
				equal(t, "written", written(), n)
				table.Put(queues(t, s, 1)[0], store.Handle[item]{}, item{})
				flush(t, s)
			})
			equal(t, "written at rest", written(), 0)
		})
	}
}
