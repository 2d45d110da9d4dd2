package store_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"handloom/batch"
	"handloom/store"
)

// send records with the queue of a call, which must be taken.
func send(t tb, s *store.Store, record func(q store.Queue)) {
	t.Helper()
	if err := s.Inbox(func(q store.Queue) error { record(q); return nil }); err != nil {
		t.Fatal(err)
	}
}

// created are the values that the last flush created, in its order.
func created(table itemTable) (values []uint64) {
	for _, v := range store.Created(table) {
		values = append(values, v.Value)
	}
	return values
}

// newInbox returns a store whose table says what a flush created.
func newInbox(t tb, o store.Options) (*store.Store, *store.Table[item]) {
	t.Helper()
	return newTable(t, o, store.TableOptions[item]{Changes: true})
}

func TestCallsOfTheInboxComeAfterAllPassesAndInTheOrderTheyArrived(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	h := fill(t, s, table, 1)[0]
	emplace := func(value uint64) func(q store.Queue) {
		return func(q store.Queue) {
			table.Emplace(q, item{Value: value})
			table.Put(q, h, item{Value: value})
		}
	}
	send(t, s, emplace(5))
	emplace(1)(queues(t, s, 1)[0])
	// The one that begins first arrives last.
	send(t, s, func(q store.Queue) {
		send(t, s, emplace(6))
		emplace(7)(q)
	})
	qs := queues(t, s, 2)
	emplace(3)(qs[1])
	send(t, s, emplace(8))
	emplace(2)(qs[0])
	emplace(4)(queues(t, s, 1)[0])
	if report := flush(t, s); report.Total != (batch.Counts{Created: 8, Put: 1, Superseded: 7}) {
		t.Errorf("%v", report)
	}
	if got := created(packedTable{table}); !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 6, 7, 8}) || table.At(h).Value != 8 {
		t.Errorf("created %v; the put of %d won", got, table.At(h).Value)
	}
}

func TestStaleCommandsOfTheInboxAreListedByCall(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	for call := range 3 {
		send(t, s, func(q store.Queue) {
			for range call {
				q.Erase(compose(1, 1, 77))
			}
			table.Put(q, handleOf(compose(1, 1, 78)), item{})
		})
	}
	report := flush(t, s)
	for i, want := range []batch.Sample{{Task: 1}, {Task: 2}, {Task: 2, Sequence: 1}, {Kind: 1}, {Kind: 1, Task: 1}, {Kind: 1, Task: 2}} {
		want.Handle, want.TypeID, want.Pass = compose(1, 1, 77+uint32(want.Kind)), 1, math.MaxInt32
		if i >= len(report.Stale) || report.Stale[i] != want {
			t.Errorf("sample %d of %+v should be %+v", i, report.Stale, want)
		}
	}
}

// What a call records while flushes come and go belongs to the batch that it
// arrives in, and its names hold all the time.
func TestACallThatSpansFlushesBelongsToTheBatchItArrivesIn(t *testing.T) {
	for _, flushes := range []int{1, 2, 5} {
		for _, discard := range []bool{false, true} {
			s, table := newInbox(t, store.Options{})
			live := fill(t, s, table, 1)[0]
			var mine []store.Handle[item]
			send(t, s, func(q store.Queue) {
				mine = table.EmplaceItems(q, []item{{Value: 1}, {Value: 2}, {Value: 3}, {Value: 4}}, nil)
				for range flushes {
					// Others cannot name what is not in the batch.
					send(t, s, func(q store.Queue) { table.Erase(q, mine[0]) })
					table.Put(queues(t, s, 1)[0], live, item{Parent: mine[0]})
					if discard {
						if err := s.Discard(); err != nil {
							t.Fatal(err)
						}
						continue
					}
					if report := flush(t, s); report.Total != (batch.Counts{Put: 1, Stale: 1, Dangling: 1}) {
						t.Errorf("%v", report)
					}
					for _, p := range mine {
						if h, ok := table.Resolve(p); ok {
							t.Errorf("%v resolves to %v while its call records", p, h)
						}
					}
				}
				for i, p := range mine {
					if v, ok := table.Staged(q, p); !ok || v.Value != uint64(i+1) {
						t.Errorf("%v is staged as %v, %t", p, v, ok)
					} else {
						v.Parent = mine[(i+1)%4]
					}
				}
				table.Erase(q, mine[1])
				table.Put(q, mine[2], item{Value: 30, Parent: mine[2]})
				late := table.Emplace(q, item{Value: 5, Parent: mine[3]})
				if slices.Contains(mine, late) {
					t.Errorf("%v is given twice", late)
				}
			})
			// Now they are of the batch, so that others can.
			q := queues(t, s, 1)[0]
			table.Put(q, live, item{Value: 99, Parent: mine[0]})
			table.Put(q, mine[3], item{Value: 40})
			want := batch.Counts{Created: 4, Put: 3, CancelledOut: 2, Dangling: 1}
			if report := flush(t, s); report.Total != want {
				t.Errorf("%v, want %v", report, want)
			}
			if got := created(packedTable{table}); !slices.Equal(got, []uint64{1, 30, 40, 5}) {
				t.Errorf("created %v", got)
			}
			first, third, last := resolve(t, table, mine[0]), resolve(t, table, mine[2]), resolve(t, table, mine[3])
			if table.At(live).Parent != first || !table.At(first).Parent.ID.IsZero() || table.At(third).Parent != third {
				t.Errorf("links %+v, %+v, %+v", *table.At(live), *table.At(first), *table.At(third))
			}
			for h, v := range store.Created(table) {
				if v.Value == 5 && v.Parent != last {
					t.Errorf("%v names %v, not %v", h, v.Parent, last)
				}
			}
		}
	}
}

// keeps fails the test unless a call that ends in some way leaves nothing.
func keepsNothing(t *testing.T, s *store.Store, table *store.Table[item], h store.Handle[item], end func(record func(q store.Queue))) {
	t.Helper()
	before, pending := digest(t, s), s.Pending()
	var p store.Handle[item]
	end(func(q store.Queue) {
		p = table.Emplace(q, item{})
		table.EmplaceItems(q, make([]item, 3), nil)
		table.Put(q, h, item{Value: 12345})
		table.Erase(q, h)
		q.Erase(h.ID)
		q.Erase(compose(9000, 1, 1))
	})
	if got := s.Pending(); got != pending {
		t.Errorf("%+v is pending, want %+v", got, pending)
	}
	q := queues(t, s, 1)[0]
	table.Erase(q, table.Emplace(q, item{Parent: p}))
	table.Erase(q, p)
	if report := flush(t, s); report.Total != (batch.Counts{CancelledOut: 2, Stale: 1}) || digest(t, s) != before {
		t.Errorf("%v", report)
	}
}

func TestNothingOfACallThatFailsIsKept(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	h := fill(t, s, table, 3)[1]
	for name, end := range map[string]func(record func(q store.Queue)){
		"error": func(record func(q store.Queue)) {
			if err := s.Inbox(func(q store.Queue) error { record(q); return errTask }); err != errTask {
				t.Errorf("the error became %v", err)
			}
		},
		"panic": func(record func(q store.Queue)) {
			if got := panicOf(func() { _ = s.Inbox(func(q store.Queue) error { record(q); panic(errTask) }) }); got != errTask.Error() {
				t.Errorf("the panic became %q", got)
			}
		},
		"exit": func(record func(q store.Queue)) {
			call := begin(func() error { return s.Inbox(func(q store.Queue) error { record(q); runtime.Goexit(); return nil }) })
			if err := call.result(); err != nil {
				t.Errorf("the call returned %v", err)
			}
		},
		"discarded": func(record func(q store.Queue)) {
			send(t, s, record)
			if err := s.Discard(); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { keepsNothing(t, s, table, h, end) })
	}
}

func TestNothingOfACallBeyondALimitIsKept(t *testing.T) {
	for name, o := range map[string]store.Options{
		"commands of a queue": {QueueLimit: 7},
		"bytes of a queue":    {QueueBytes: 4*itemBytes + putBytes + 3*8 - 1},
		"commands of all":     {InboxLimit: 7},
	} {
		t.Run(name, func(t *testing.T) {
			s, table := newInbox(t, o)
			h := fill(t, s, table, 3)[1]
			keepsNothing(t, s, table, h, func(record func(q store.Queue)) {
				err := s.Inbox(func(q store.Queue) error { record(q); return nil })
				if !errors.Is(err, store.ErrQueueFull) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestAFullInboxTakesCallsAgainAfterAFlush(t *testing.T) {
	s, table := newInbox(t, store.Options{InboxLimit: 10})
	for round := range 3 {
		send(t, s, func(q store.Queue) { table.EmplaceItems(q, make([]item, 6), nil) })
		send(t, s, func(q store.Queue) { table.EmplaceItems(q, make([]item, 4), nil) })
		called := false
		for range 2 {
			err := s.Inbox(func(store.Queue) error { called = true; return nil })
			if !errors.Is(err, store.ErrQueueFull) || called {
				t.Errorf("round %d: %v, called: %t", round, err, called)
			}
			if _, err := s.Flush(ended{t.Context()}); !errors.Is(err, context.Canceled) {
				t.Error(err) // what waits still waits
			}
		}
		if report := flush(t, s); report.Total.Created != 10 {
			t.Errorf("%v", report)
		}
	}
}

// A flush that fails keeps the calls it sealed; those that arrive later come
// after them.
func TestAFlushThatFailsKeepsTheCallsAndTheirOrder(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	for value := range uint64(6) {
		send(t, s, func(q store.Queue) { table.Emplace(q, item{Value: value}) })
		if value%2 == 1 {
			if _, err := s.Flush(ended{t.Context()}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}
	if report := flush(t, s); report.Total != (batch.Counts{Created: 6}) {
		t.Errorf("%v", report)
	}
	if got := created(packedTable{table}); !slices.Equal(got, []uint64{0, 1, 2, 3, 4, 5}) {
		t.Errorf("created %v", got)
	}
}

func TestTheInboxIsOpenInEveryPhase(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newInbox(t, store.Options{Workers: 2})
		fill(t, s, table, 5)
		for kind := range joins {
			err := inside(s, table, kind, func(context.Context) {
				send(t, s, func(q store.Queue) { table.Emplace(q, item{}) })
			})
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		n := s.Pending().Commands
		if report := flush(t, s); n < len(joins) || report.Total.Created != n {
			t.Errorf("%d commands, %v", n, report)
		}
	})
}

func TestACallThatRecordsNothingIsNothing(t *testing.T) {
	s, table := newInbox(t, store.Options{InboxLimit: 1})
	fill(t, s, table, 1)
	for range 10 {
		send(t, s, func(store.Queue) {})
		send(t, s, func(q store.Queue) { table.EraseItems(q, nil); table.EmplaceItems(q, nil, nil) })
	}
	if report := flush(t, s); s.Epoch() != 1 || report.Total != (batch.Counts{}) {
		t.Errorf("epoch %d, %v", s.Epoch(), report)
	}
}

func TestAQueueKeptPastItsCallPanicsAndRecordsNothing(t *testing.T) {
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
	check := func() {
		t.Helper()
		for _, q := range kept {
			refused(t, table, q, "the queue of a call of the inbox was kept past it")
		}
	}
	check()
	if report := flush(t, s); report.Total != (batch.Counts{Created: 1}) {
		t.Errorf("%v", report)
	}
	check()
	// Others record with the memory that those had.
	for range 5 {
		send(t, s, func(q store.Queue) { table.Emplace(q, item{}); check() })
	}
	if report := flush(t, s); report.Total != (batch.Counts{Created: 5}) {
		t.Errorf("%v", report)
	}
}

func TestAClosedStoreTakesNoCall(t *testing.T) {
	s, table := newInbox(t, store.Options{})
	send(t, s, func(q store.Queue) { table.EmplaceItems(q, make([]item, 3), nil) })
	err := s.Inbox(func(q store.Queue) error {
		table.EmplaceItems(q, make([]item, 5), nil)
		if unapplied, err := s.Close(t.Context()); unapplied != 3 || err != nil {
			t.Errorf("Close: %d commands, %v", unapplied, err)
		}
		table.Emplace(q, item{}) // it does not know yet
		return nil
	})
	if !errors.Is(err, store.ErrClosed) || !strings.Contains(err.Error(), "Inbox") {
		t.Errorf("the call during which the store was closed: %v", err)
	}
	called := false
	if err := s.Inbox(func(store.Queue) error { called = true; return nil }); !errors.Is(err, store.ErrClosed) || called {
		t.Errorf("a call of a closed store: %v, called: %t", err, called)
	}
}
