package store_test

import (
	"testing"

	"handloom/batch"
	"handloom/store"
)

type act = func(*store.Table[item], store.Queue, store.Handle[item])

func eraseIt(table *store.Table[item], q store.Queue, h store.Handle[item]) { table.Erase(q, h) }

func eraseUntyped(_ *store.Table[item], q store.Queue, h store.Handle[item]) { q.Erase(h.ID) }

func putIt(table *store.Table[item], q store.Queue, h store.Handle[item]) {
	table.Put(q, h, item{Value: 99})
}

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

func TestCounts_OfCommandsToOneItem(t *testing.T) {
	for _, p := range []struct {
		name      string
		acts      []act
		live, new batch.Counts // counts of a live item and of a created item
		survives  bool
	}{
		{"erase", []act{eraseIt}, batch.Counts{Erased: 1}, batch.Counts{CancelledOut: 2}, false},
		{"put", []act{putIt}, batch.Counts{Put: 1}, batch.Counts{Created: 1, Put: 1}, true},
		{"put and erase", []act{putIt, eraseIt}, batch.Counts{Erased: 1, Dropped: 1}, batch.Counts{CancelledOut: 2, Dropped: 1}, false},
		{"two erases", []act{eraseIt, eraseUntyped}, batch.Counts{Erased: 1, Redundant: 1}, batch.Counts{CancelledOut: 2, Redundant: 1}, false},
		{"two puts", []act{putIt, putIt}, batch.Counts{Put: 1, Superseded: 1}, batch.Counts{Created: 1, Put: 1, Superseded: 1}, true},
		{
			"two of each",
			[]act{putIt, eraseIt, putIt, eraseUntyped},
			batch.Counts{Erased: 1, Redundant: 1, Dropped: 2},
			batch.Counts{CancelledOut: 2, Redundant: 1, Dropped: 2},
			false,
		},
	} {
		orders(p.acts, func(acts []act) {
			for ways := range 1 << len(acts) {
				for _, created := range []bool{false, true} {
					s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
					h, want := fill(t, s, table, 3)[1], p.live
					qs := queues(t, s, 3)
					if created {
						h, want = table.Emplace(qs[1], item{}), p.new
					}
					for i, do := range acts {
						do(table, qs[ways>>i&1*2], h)
					}
					wantFlush(t, s, want)
					if real, ok := table.Resolve(h); ok {
						h = real
					}
					if v, ok := table.Get(h); ok != p.survives || ok && v.Value != 99 {
						t.Fatalf("%s, created %t: the item lives: %t, %+v", p.name, created, ok, v)
					}
				}
			}
		})
	}
}
