package store_test

import (
	"testing"

	"handloom/batch"
	"handloom/store"
)

// send records with the queue of a call that must succeed.
func send(t tb, s *store.Store, record func(q store.Queue)) {
	t.Helper()
	noError(t, s.Inbox(func(q store.Queue) error { record(q); return nil }))
}

func newInbox(t tb, o store.Options) (*store.Store, *store.Table[item]) {
	t.Helper()
	return newTable(t, o, store.TableOptions[item]{Changes: true})
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
