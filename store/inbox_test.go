package store_test

import (
	"runtime"
	"testing"

	"handloom/batch"
	"handloom/store"
)

// send records with the queue of a call that must succeed.
func send(t tb, s *store.Store, record func(q store.Queue)) {
	t.Helper()
	noError(t, s.Inbox(func(q store.Queue) error { record(q); return nil }))
}

func created(table itemTable) (values []uint64) {
	for _, v := range store.Created(table) {
		values = append(values, v.Value)
	}
	return values
}

func newInbox(t tb, o store.Options) (*store.Store, *store.Table[item]) {
	t.Helper()
	return newTable(t, o, store.TableOptions[item]{Changes: true})
}

func TestInbox_CallsFollowPassesInOrder(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	bad := false
	store.AddIndex(table, "key", func(v *item) (uint64, bool) {
		if bad && v.Value == 4 {
			panic(errTask)
		}
		return 0, false
	})
	h := fill(t, s, table, 1)[0]
	emplace := func(value uint64) func(q store.Queue) {
		return func(q store.Queue) {
			table.Emplace(q, item{Value: value})
			table.Put(q, h, item{Value: value})
		}
	}
	send(t, s, emplace(5))
	emplace(1)(queues(t, s, 1)[0])
	send(t, s, func(q store.Queue) {
		send(t, s, emplace(6))
		emplace(7)(q)
	})
	qs := queues(t, s, 2)
	emplace(3)(qs[1])
	send(t, s, emplace(8))
	emplace(2)(qs[0])
	emplace(4)(queues(t, s, 1)[0])
	bad = true
	wantError(t, "Flush", onlyError(s.Flush(t.Context())), errTask)
	bad = false
	send(t, s, func(q store.Queue) { // after the four calls that a failed flush keeps
		emplace(9)(q)
		table.Erase(q, store.Handle[item]{})
	})
	report := flush(t, s)
	equal(t, "counts", report.Total, batch.Counts{Created: 9, Put: 1, Superseded: 8, Stale: 1})
	equal(t, "number of the call of the stale erase", report.Stale[0].Task, 4)
	equalLists(t, "created", created(packedTable{table}), 1, 2, 3, 4, 5, 6, 7, 8, 9)
	equal(t, "the put that won", table.At(h).Value, 9)
}

func TestInbox_DropsFailedCalls(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	h := fill(t, s, table, 3)[1]
	before := digest(t, s)
	for name, end := range map[string]func(record func(q store.Queue)){
		"error": func(record func(q store.Queue)) {
			equal(t, "error of the call", s.Inbox(func(q store.Queue) error { record(q); return errTask }), errTask)
		},
		"panic": func(record func(q store.Queue)) {
			equal(t, "the panic", panicOf(func() { _ = s.Inbox(func(q store.Queue) error { record(q); panic(errTask) }) }), errTask.Error())
		},
		"exit": func(record func(q store.Queue)) {
			call := begin(func() error { return s.Inbox(func(q store.Queue) error { record(q); runtime.Goexit(); return nil }) })
			wantError(t, "the call returned", call.result(), nil)
		},
		"discarded": func(record func(q store.Queue)) {
			send(t, s, record)
			wantError(t, "", s.Discard(), nil)
		},
	} {
		var p store.Handle[item]
		end(func(q store.Queue) {
			p = table.Emplace(q, item{})
			table.Put(q, h, item{Value: 12345})
			table.Erase(q, h)
			q.Erase(compose(9000, 1, 1))
		})
		equal(t, name+": pending", s.Pending(), batch.Load{})
		q := queues(t, s, 1)[0]
		table.Erase(q, table.Emplace(q, item{Parent: p}))
		table.Erase(q, p)
		wantFlush(t, s, batch.Counts{CancelledOut: 2, Stale: 1})
		equal(t, "digest after "+name, digest(t, s), before)
	}
}

func TestInbox_QueueKeptPastItsCallPanics(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	fill(t, s, table, 1)
	var kept []store.Queue
	keep := func(err error) func(q store.Queue) error {
		return func(q store.Queue) error {
			table.Emplace(q, item{})
			kept = append(kept, q)
			return err
		}
	}
	_ = s.Inbox(keep(nil))
	_ = s.Inbox(keep(errTask))
	panicOf(func() { _ = s.Inbox(func(q store.Queue) error { _ = keep(nil)(q); panic(errTask) }) })
	for _, want := range []int{1, 5} {
		for _, q := range kept {
			refused(t, table, q, "the queue of a call of the inbox was kept past its call")
		}
		wantFlush(t, s, batch.Counts{Created: want})
		for range 5 {
			post(t, s, table, 1)
		}
	}
}

func TestInbox_RefusesCallsAfterClose(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	send(t, s, func(q store.Queue) { table.EmplaceItems(q, make([]item, 3), nil) })
	wantError(t, "the call during which the store was closed", s.Inbox(callOf(func(q store.Queue) {
		table.EmplaceItems(q, make([]item, 5), nil)
		if unapplied, err := s.Close(t.Context()); unapplied != 3 || err != nil {
			t.Errorf("Close: %d commands, %v", unapplied, err)
		}
		table.Emplace(q, item{}) // the call does not know yet
	})), store.ErrClosed, "Inbox")
	called := false
	wantError(t, "a call of a closed store", s.Inbox(func(store.Queue) error { called = true; return nil }), store.ErrClosed)
	equal(t, "a closed store calls", called, false)
}
