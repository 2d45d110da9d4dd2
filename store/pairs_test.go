package store_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/batch"
	"handloom/store"
)

// A pair is two or more commands to one item. What they come to depends on
// which they are and not on the order they are recorded in.
type pair struct {
	name  string
	acts  []func(table *store.Table[item], q store.Queue, h store.Handle[item])
	want  batch.Counts
	alive bool
}

func eraseIt(table *store.Table[item], q store.Queue, h store.Handle[item]) { table.Erase(q, h) }

func eraseUntyped(_ *store.Table[item], q store.Queue, h store.Handle[item]) { q.Erase(h.ID) }

func putIt(table *store.Table[item], q store.Queue, h store.Handle[item]) {
	table.Put(q, h, item{Value: 99})
}

type act = func(*store.Table[item], store.Queue, store.Handle[item])

// orders calls f with the acts in every order.
func orders(acts []act, f func([]act)) {
	var permute func(done, rest []act)
	permute = func(done, rest []act) {
		if len(rest) == 0 {
			f(done)
			return
		}
		for i := range rest {
			others := append(append([]act{}, rest[:i]...), rest[i+1:]...)
			permute(append(done[:len(done):len(done)], rest[i]), others)
		}
	}
	permute(nil, acts)
}

// spread calls f with every way to give n commands to two queues of a pass or
// of two passes.
func spread(n int, f func(queueOf func(command int) int)) {
	for ways := range 1 << n {
		f(func(command int) int { return ways >> command & 1 })
	}
}

func TestCommandsToALiveItemCountAsTheDesignSays(t *testing.T) {
	for _, p := range []pair{
		{"erase", []act{eraseIt}, batch.Counts{Erased: 1}, false},
		{"put", []act{putIt}, batch.Counts{Put: 1}, true},
		{"put and erase", []act{putIt, eraseIt}, batch.Counts{Erased: 1, Dropped: 1}, false},
		{"two erases", []act{eraseIt, eraseUntyped}, batch.Counts{Erased: 1, Redundant: 1}, false},
		{"two puts", []act{putIt, putIt}, batch.Counts{Put: 1, Superseded: 1}, true},
		{"two of each", []act{putIt, eraseIt, putIt, eraseUntyped}, batch.Counts{Erased: 1, Redundant: 1, Dropped: 2}, false},
	} {
		checkPair(t, p, func(s *store.Store, table *store.Table[item], acts []act, queueOf func(int) int) store.Handle[item] {
			h := fill(t, s, table, 3)[1]
			qs := queues(t, s, 2)
			for i, do := range acts {
				do(table, qs[queueOf(i)], h)
			}
			return h
		})
	}
}

func TestCommandsToAnItemCreatedInTheSameBatchCountAsTheDesignSays(t *testing.T) {
	for _, p := range []pair{
		{"erase", []act{eraseIt}, batch.Counts{CancelledOut: 2}, false},
		{"put", []act{putIt}, batch.Counts{Created: 1, Put: 1}, true},
		{"put and erase", []act{putIt, eraseIt}, batch.Counts{CancelledOut: 2, Dropped: 1}, false},
		{"two erases", []act{eraseIt, eraseUntyped}, batch.Counts{CancelledOut: 2, Redundant: 1}, false},
		{"two puts", []act{putIt, putIt}, batch.Counts{Created: 1, Put: 1, Superseded: 1}, true},
		{"two of each", []act{putIt, eraseIt, putIt, eraseUntyped}, batch.Counts{CancelledOut: 2, Redundant: 1, Dropped: 2}, false},
	} {
		checkPair(t, p, func(s *store.Store, table *store.Table[item], acts []act, queueOf func(int) int) store.Handle[item] {
			fill(t, s, table, 3)
			qs := queues(t, s, 3)
			h := table.Emplace(qs[1], item{}) // the queues before and behind it say the rest
			for i, do := range acts {
				do(table, qs[queueOf(i)*2], h)
			}
			return h
		})
	}
}

func checkPair(t *testing.T, p pair, record func(s *store.Store, table *store.Table[item], acts []act, queueOf func(int) int) store.Handle[item]) {
	t.Helper()
	for _, shards := range []int{1, 3} {
		orders(p.acts, func(acts []act) {
			spread(len(acts), func(queueOf func(int) int) {
				s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: shards})
				h := record(s, table, acts, queueOf)
				before := table.Len()
				report := flush(t, s)
				if report.Total != p.want {
					t.Fatalf("%s: %v, want %+v", p.name, report, p.want)
				}
				if before+p.want.Created-p.want.Erased != table.Len() {
					t.Fatalf("%s: %d items before, %d after", p.name, before, table.Len())
				}
				if real, ok := table.Resolve(h); ok {
					h = real
				}
				v, ok := table.Get(h)
				if ok != p.alive || ok && v.Value != 99 {
					t.Fatalf("%s: the item lives: %t, %+v", p.name, ok, v)
				}
			})
		})
	}
}

func TestTheLastPutByKeyWinsWheneverItWasRecorded(t *testing.T) {
	for _, created := range []bool{false, true} {
		t.Run(fmt.Sprintf("created=%t", created), func(t *testing.T) {
			s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
			h := fill(t, s, table, 1)[0]
			first, second := queues(t, s, 2), queues(t, s, 2)
			if created {
				h = table.Emplace(second[1], item{})
			}
			table.Put(second[1], h, item{Value: 3})
			table.Put(second[1], h, item{Value: 4})
			table.Put(first[1], h, item{Value: 1})
			table.Put(second[0], h, item{Value: 2})
			table.Put(first[0], h, item{Value: 0})
			flush(t, s)
			if created {
				h = resolve(t, table, h)
			}
			if got := table.At(h).Value; got != 4 {
				t.Errorf("the put of value %d won", got)
			}
		})
	}
}

func TestAPutReplacesWritesInPlace(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	h := fill(t, s, table, 1)[0]
	table.Put(queues(t, s, 1)[0], h, item{Value: 5})
	err := table.ForEach(t.Context(), func(_ context.Context, c store.Chunk[item]) error {
		c.Items[0].Value = 6
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	if got := table.At(h).Value; got != 5 {
		t.Errorf("the item holds %d, want the value put", got)
	}
}

func TestACancelledCreateUsesNoSlotAndNoGeneration(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 2})
	hs := fill(t, s, table, 6)
	table.EraseItems(queues(t, s, 1)[0], hs[:2])
	flush(t, s)
	before := digest(t, s)
	for range 20 {
		q := queues(t, s, 1)[0]
		table.EraseItems(q, table.EmplaceItems(q, make([]item, 10), nil))
		flush(t, s)
	}
	if digest(t, s) != before {
		t.Error("creates that were cancelled left a trace")
	}
}

func TestSlotsFreedByABatchServeItsCreates(t *testing.T) {
	setWidths(t, 100, 16)
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	hs := fill(t, s, table, 16)
	q := queues(t, s, 1)[0]
	names := table.EmplaceItems(q, make([]item, 4), nil)
	table.EraseItems(q, []store.Handle[item]{hs[7], hs[3], hs[12], hs[5]})
	flush(t, s)
	for i, slot := range []uint32{3, 5, 7, 12} { // in ascending order of the rows
		if h := resolve(t, table, names[i]); h.ID.Slot() != slot || h.ID.Generation() != 2 {
			t.Errorf("create %d got %v, want slot %d, generation 2", i, h, slot)
		}
	}
}
