package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"handloom/store"
)

// change is an item in a list of changes.
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

// changes are the three lists of a table.
type changes struct{ created, erased, replaced []change }

func changesOf(table itemTable) changes {
	return changes{listed(store.Created(table)), listed(store.Erased(table)), listed(store.Replaced(table))}
}

func (c changes) equal(o changes) bool {
	return slices.Equal(c.created, o.created) && slices.Equal(c.erased, o.erased) && slices.Equal(c.replaced, o.replaced)
}

// follower predicts the lists of a table from what it records.
type follower struct {
	t      *testing.T
	s      *store.Store
	table  itemTable
	random *rand.Rand

	before  []change // all items when the batch is flushed, by typeId and row
	creates []store.Handle[item]
	erased  map[store.ID]bool
	put     map[store.ID]bool
}

// record records random commands to live items and to creates of the batch.
func (f *follower) record() {
	f.creates, f.erased, f.put = nil, map[store.ID]bool{}, map[store.ID]bool{}
	var live []store.Handle[item]
	for h := range f.table.All() {
		live = append(live, h)
	}
	qs := queues(f.t, f.s, 3)
	made := make([][]store.Handle[item], len(qs))
	for range f.random.IntN(40) {
		at := f.random.IntN(len(qs))
		q, value := qs[at], item{Value: f.random.Uint64()}
		target := store.Handle[item]{}
		if n := len(live) + len(made[0]); n > 0 {
			if i := f.random.IntN(n); i < len(live) {
				target = live[i]
			} else {
				target = made[0][i-len(live)]
			}
		}
		switch f.random.IntN(4) {
		case 0, 1:
			made[at] = append(made[at], f.table.Emplace(q, value))
		case 2:
			f.table.Put(q, target, value)
			f.put[target.ID] = true
		default:
			f.table.Erase(q, target)
			f.erased[target.ID] = true
		}
	}
	f.creates = slices.Concat(made...)
}

// expected says what the lists are once the batch is flushed.
func (f *follower) expected() (want changes) {
	now := func(h store.Handle[item]) change {
		v, ok := f.table.Get(h)
		if !ok {
			f.t.Fatalf("%v is gone", h)
		}
		return change{h.ID, *v}
	}
	for _, p := range f.creates {
		if !f.erased[p.ID] {
			want.created = append(want.created, now(resolve(f.t, f.table, p)))
		}
	}
	for _, c := range f.before {
		switch {
		case f.erased[c.id]:
			want.erased = append(want.erased, c)
		case f.put[c.id]:
			want.replaced = append(want.replaced, now(handleOf(c.id)))
		}
	}
	return want
}

func TestChangeListsSayWhatAFlushDid(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for seed := range uint64(30) {
			f := &follower{t: t, s: newStore(t, store.Options{Workers: 1 + int(seed)%3}), random: rand.New(rand.NewPCG(seed, 0))}
			f.table = registerKind(t, f.s, store.TableOptions[item]{Shards: 1 + int(seed)%4, ChunkItems: 4, Changes: true}, stable)
			other := registerKind(t, f.s, store.TableOptions[item]{Name: "other", Changes: true}, stable)
			for range 15 {
				f.record()
				// What the items held before the batch includes what a pass wrote.
				err := f.table.visit(t.Context(), func(_ int, _ store.Queue, items itemSeq) error {
					for _, v := range items {
						v.Value++
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				f.before = listed(f.table.All())
				n := f.s.Pending().Commands
				epoch := flush(t, f.s).Epoch
				want := f.expected()
				if got := changesOf(f.table); n > 0 && !got.equal(want) {
					t.Fatalf("seed %d, epoch %d: lists\n\t%v\nwant\n\t%v", seed, epoch, got, want)
				}
				if got := changesOf(other); !got.equal(changes{}) {
					t.Fatalf("the lists of a table without commands are %v", got)
				}
			}
		}
	})
}

// tracked is a table that keeps changes, with a flush that made some.
func tracked(t *testing.T, stable bool) (*store.Store, itemTable, changes) {
	t.Helper()
	s := newStore(t, store.Options{})
	table := registerKind(t, s, store.TableOptions[item]{Shards: 3, Changes: true}, stable)
	hs := table.EmplaceItems(queues(t, s, 1)[0], make([]item, 9), nil)
	flush(t, s)
	for i, p := range hs {
		hs[i] = resolve(t, table, p)
	}
	q := queues(t, s, 1)[0]
	table.EmplaceItems(q, make([]item, 4), nil)
	table.EraseItems(q, hs[:3])
	table.Put(q, hs[5], item{Value: 5})
	table.Put(q, hs[8], item{Value: 8})
	flush(t, s)
	lists := changesOf(table)
	if len(lists.created) != 4 || len(lists.erased) != 3 || len(lists.replaced) != 2 {
		t.Fatalf("lists %v", lists)
	}
	return s, table, lists
}

func TestChangeListsAreGoodUntilTheNextFlushWithCommands(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s, table, lists := tracked(t, stable)
		other := registerKind(t, s, store.TableOptions[item]{Name: "other"}, stable)
		for _, step := range []struct {
			what string
			do   func()
		}{
			{"an empty flush", func() { flush(t, s) }},
			{"an empty flush of a pass", func() { queues(t, s, 2); flush(t, s) }},
			{"a flush that fails", func() {
				q := queues(t, s, 1)[0]
				table.EmplaceItems(q, make([]item, 100), nil)
				table.EraseItems(q, []store.Handle[item]{handleOf(lists.created[0].id), handleOf(lists.replaced[0].id)})
				table.Put(q, handleOf(lists.replaced[1].id), item{Value: 1})
				if _, err := s.Flush(endAfter(2)); !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
			}},
			{"discarding", func() { _ = s.Discard() }},
		} {
			step.do()
			if got := changesOf(table); !got.equal(lists) {
				t.Errorf("after %s: %v, want %v", step.what, got, lists)
			}
		}
		other.Emplace(queues(t, s, 1)[0], item{})
		flush(t, s)
		if got := changesOf(table); !got.equal(changes{}) {
			t.Errorf("after a flush with commands for another table: %v", got)
		}
	})
}

func TestAFlushWhoseCommandsChangeNothingEmptiesTheLists(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s, table, _ := tracked(t, stable)
		q := queues(t, s, 1)[0]
		table.Erase(q, table.Emplace(q, item{}))
		table.Put(q, store.Handle[item]{}, item{})
		table.Erase(q, store.Handle[item]{})
		flush(t, s)
		if got := changesOf(table); !got.equal(changes{}) {
			t.Errorf("%v", got)
		}
	})
}

// What a Write erases is in no list of the flush before, but what that erased
// is.
func TestItemsErasedByAWriteAreLeftOut(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s, table, lists := tracked(t, stable)
		err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
			table.Clear(w)
			for range 12 { // the slots are issued again
				if _, err := table.Insert(w, item{Value: 1000}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := changesOf(table); !got.equal(changes{erased: lists.erased}) {
			t.Errorf("%v", got)
		}
	})
}

func TestChangeListsCanBeLeftEarly(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		_, table, _ := tracked(t, stable)
		for name, list := range map[string]itemSeq{"Created": store.Created(table), "Erased": store.Erased(table), "Replaced": store.Replaced(table)} {
			n := 0
			for range list {
				n++
				break
			}
			if n != 1 {
				t.Errorf("%s: %d items", name, n)
			}
		}
	})
}

func TestChangeListsOfAClosedStoreAreEmpty(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s, table, _ := tracked(t, stable)
		if _, err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := changesOf(table); !got.equal(changes{}) {
			t.Errorf("%v", got)
		}
	})
}

func TestATableWithoutChangesPanicsWhenAsked(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		table := registerKind(t, newStore(t, store.Options{}), store.TableOptions[item]{Name: "plain"}, stable)
		for name, list := range map[string]func(store.TableOf[item]) itemSeq{"Created": store.Created[item], "Erased": store.Erased[item], "Replaced": store.Replaced[item]} {
			got := panicOf(func() { list(table) })
			if !strings.Contains(got, name+` of table "plain"`) || !strings.Contains(got, "TableOptions.Changes") {
				t.Errorf("%s panics with %q", name, got)
			}
		}
	})
}

func TestChangeListsAreTheSameForAnyWorkersProcessorsAndOrderOfTasks(t *testing.T) {
	scenario := func(stable bool) func(r *trial) {
		return func(r *trial) {
			table := registerKind(r, r.Store, store.TableOptions[item]{Shards: 5, ChunkItems: 4, Changes: true}, stable)
			for range 6 {
				err := r.Each(r.ctx, 8, func(_ context.Context, task int, q store.Queue) error {
					table.EmplaceItems(q, make([]item, 3*task), nil)
					return nil
				})
				if err != nil {
					r.Fatal(err)
				}
				err = table.visit(r.ctx, func(chunk int, q store.Queue, items itemSeq) error {
					for h, v := range items {
						switch v.Value++; (uint64(chunk) + v.Value) % 4 {
						case 0:
							table.Erase(q, h)
						case 1:
							table.Put(q, h, item{Value: v.Value + uint64(chunk)})
						}
					}
					return nil
				})
				if err != nil {
					r.Fatal(err)
				}
				r.flush()
				r.out.notes = append(r.out.notes, fmt.Sprint(changesOf(table)))
			}
		}
	}
	bothKinds(t, func(t *testing.T, stable bool) { sameEverywhere(t, store.Options{}, scenario(stable)) })
}

// A table without commands gives up what it keeps for flushes. That its changes
// are to be kept is no part of that.
func TestChangesAreListedAfterATableHasRested(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 2, Changes: true}, stable)
		other := registerKind(t, s, store.TableOptions[item]{Name: "other"}, stable)
		q := queues(t, s, 1)[0]
		for i := range 10 {
			table.Emplace(q, item{Value: uint64(i)})
		}
		flush(t, s)
		var before []change
		for range 2 { // awake, it rests again
			for range 300 {
				other.Emplace(queues(t, s, 1)[0], item{})
				flush(t, s)
			}
			if got := changesOf(table); !got.equal(changes{}) {
				t.Errorf("before it has commands it lists %v", got)
			}
			before = listed(table.All())
			q = queues(t, s, 1)[0]
			table.Erase(q, handleOf(before[1].id))
			table.Put(q, handleOf(before[2].id), item{Value: 100})
			p := table.Emplace(q, item{Value: 101})
			flush(t, s)
			want := changes{
				created:  []change{{resolve(t, table, p).ID, item{Value: 101}}},
				erased:   []change{before[1]},
				replaced: []change{{before[2].id, item{Value: 100}}},
			}
			if got := changesOf(table); !got.equal(want) {
				t.Errorf("after a rest it lists\n%v, want\n%v", got, want)
			}
		}
	})
}

// A flush that erases less than the one before leaves nothing of that behind its
// own list.
func TestErasedValuesAreForgottenWhenTheNextListIsShorter(t *testing.T) {
	type big struct{ data *[1 << 16]byte }
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[big]{Changes: true}, stable)
		var erased []weak.Pointer[[1 << 16]byte]
		var last store.Handle[big]
		func() {
			var names []store.Handle[big]
			q := queues(t, s, 1)[0]
			for range 5 {
				data := new([1 << 16]byte)
				erased = append(erased, weak.Make(data))
				names = append(names, table.Emplace(q, big{data}))
			}
			flush(t, s)
			for i, p := range names {
				names[i] = resolve(t, table, p)
			}
			last = names[4]
			table.EraseItems(queues(t, s, 1)[0], names[:4])
			flush(t, s)
		}()
		table.Erase(queues(t, s, 1)[0], last)
		flush(t, s)
		runtime.GC()
		for i, data := range erased {
			if reachable := data.Value() != nil; reachable != (i == 4) {
				t.Errorf("value %d of 5, of which the last flush erased the last: reachable is %t", i, reachable)
			}
		}
		runtime.KeepAlive(s)
	})
}

// What was erased stays reachable as long as it is listed, and not at all when
// nobody asked for lists.
func TestErasedValuesAreForgottenWithTheirList(t *testing.T) {
	type big struct{ data *[1 << 16]byte }
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, keeps := range []bool{false, true} {
			s := newStore(t, store.Options{})
			table := registerKind(t, s, store.TableOptions[big]{Changes: keeps}, stable)
			other := registerKind(t, s, store.TableOptions[item]{Name: "other"}, stable)
			var erased weak.Pointer[[1 << 16]byte]
			func() {
				data := new([1 << 16]byte)
				erased = weak.Make(data)
				p := table.Emplace(queues(t, s, 1)[0], big{data})
				flush(t, s)
				table.Erase(queues(t, s, 1)[0], resolve(t, table, p))
				flush(t, s)
			}()
			runtime.GC()
			if reachable := erased.Value() != nil; reachable != keeps {
				t.Errorf("changes kept: %t, the erased value is reachable: %t", keeps, reachable)
			}
			other.Emplace(queues(t, s, 1)[0], item{})
			flush(t, s)
			runtime.GC()
			if erased.Value() != nil {
				t.Errorf("changes kept: %t, the erased value is reachable after the next flush", keeps)
			}
			runtime.KeepAlive(s)
		}
	})
}
