package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"handloom/internal/entrance"
	"handloom/store"
	"handloom/tasks"
)

// serve runs ticks as the loop of guide/server.md does, until the test ends.
func serve(t *testing.T, s *store.Store) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		loop := tasks.Loop{Hz: 1000}
		ended <- loop.Run(ctx, func(ctx context.Context, _ uint64) error {
			return onlyError(s.Frame(ctx, func(ctx context.Context, _ *store.Writer) error {
				return onlyError(s.Flush(ctx))
			}))
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the loop ended: %v", err)
		}
	})
}

func submitAll(t *testing.T, s *store.Store, calls ...func(q store.Queue)) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, len(calls))
	for i, call := range calls {
		all.Go(func() { errs[i] = onlyError(s.Submit(ctx, func(q store.Queue) error { call(q); return nil })) })
	}
	all.Wait()
	return errs
}

func TestSubmit_OversizedCallFailsAlone(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 2})
	serve(t, s)
	create := func(q store.Queue) { table.Emplace(q, item{}) }
	full := 0
	for _, err := range submitAll(t, s, create, create, create) {
		if errors.Is(err, store.ErrFull) {
			full++
			wantText(t, "the call", err, `table "store_test.item"`)
			wantText(t, "the call", err, "MaxItems 2")
		} else if err != nil {
			t.Error(err)
		}
	}
	equal(t, "full", full, 1)
	equal(t, "items", table.Len(), 2)
	for _, call := range []func(q store.Queue){func(q store.Queue) { table.EraseAll(q) }, create} {
		noError(t, submitAll(t, s, call)[0])
	}
}

// sealedCreates seals one call per count of creates. The channels get the errors of the calls.
func sealedCreates(t *testing.T, s *store.Store, table *store.Table[item], counts ...int) (storeClaim, []byte, entrance.Calls, []chan error) {
	t.Helper()
	c := claim(t, s)
	var errs []chan error
	for _, n := range counts {
		err, waits := make(chan error, 1), make(chan struct{})
		errs = append(errs, err)
		ctx := arriving{context.Background(), sync.OnceFunc(func() { close(waits) })}
		go func() {
			var names []store.Handle[item]
			r, failed := c.Submit(ctx, context.Background(), callOf(func(q store.Queue) { names = table.EmplaceItems(q, make([]item, n), nil) }))
			for _, name := range names {
				if failed != nil {
					break
				} else if h, ok := store.Resolved(r, name); !ok || !table.Has(h) {
					failed = errors.New("a name of a call that fits resolves to no item")
				}
			}
			err <- failed
		}()
		<-waits
	}
	input, calls := c.Seal(nil, 1<<20)
	return c, input, calls, errs
}

func TestClaim_DropsOversizedCalls(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 4})
	c, input, calls, errs := sealedCreates(t, s, table, 1, 4, 2)
	var report *store.Report
	_, err := s.Frame(c.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		err := c.Unseal(ctx, input, calls)
		r, failed := s.Flush(ctx)
		if failed == nil {
			report = r.Clone()
		}
		return errors.Join(err, failed)
	})
	calls.Done(1, err)
	for i, full := range []bool{false, true, false} {
		if err := <-errs[i]; errors.Is(err, store.ErrFull) != full || (err == nil) == full {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if err != nil || table.Len() != 3 || report.DroppedCalls != 1 || report.Total.Dropped != 4 || report.Total.Created != 3 {
		t.Errorf("%v, %d items, %d calls dropped: %v", err, table.Len(), report.DroppedCalls, report)
	}
}

type picky struct {
	Bad  bool
	Near []store.ID
}

func TestSubmit_PanicOfLinksFailsAlone(t *testing.T) {
	s := newStore(t, store.Options{})
	table := register(t, s, store.TableOptions[picky]{Links: func(v *picky, visit func(*store.ID)) {
		if v.Bad {
			panic("a bad one")
		}
		for i := range v.Near {
			visit(&v.Near[i])
		}
	}})
	serve(t, s)
	calls := make([]func(q store.Queue), 6)
	for i := range calls {
		calls[i] = func(q store.Queue) { table.Emplace(q, picky{Bad: i == 3}) }
	}
	for i, err := range submitAll(t, s, calls...) {
		var panicked *store.PanicError
		if errors.As(err, &panicked) != (i == 3) || (err == nil) == (i == 3) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	equal(t, "items", table.Len(), 5)
}

// The put of a dropped call leaves the value that another call recorded.
func TestFlush_KeepsValuesThatDroppedCallsReplaced(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 2})
	col := addColumn(t, table, store.ColumnOptions[uint64]{Name: "col"})
	some := addSparse(t, table, store.ColumnOptions[uint64]{Name: "some"})
	var name store.Handle[item]
	send(t, s, func(q store.Queue) {
		name = table.Emplace(q, item{Value: 7})
		col.Set(q, name, 7)
		some.Set(q, name, 7)
	})
	send(t, s, func(q store.Queue) {
		table.Put(q, name, item{Value: 8})
		col.Set(q, name, 8)
		some.Set(q, name, 8)
		table.EmplaceItems(q, make([]item, 2), nil)
	})
	r := flush(t, s)
	h, _ := table.Resolve(name)
	if v, _ := some.Get(h); table.At(h).Value != 7 || *col.At(h) != 7 || v == nil || *v != 7 {
		t.Errorf("%+v, %d, %v, want 7", *table.At(h), *col.At(h), v)
	}
	equal(t, "r.DroppedCalls", r.DroppedCalls, 1)
	equal(t, "r.Total.Dropped", r.Total.Dropped, 5)
}

// The context of a flush ends at any visit of Links. A call that it has dropped until then is left
// to the next flush, which has room.
func TestFlush_TriesDroppedCallsAgain(t *testing.T) {
	for last, failed := 1, true; failed; last++ {
		ctx, end := context.WithCancel(t.Context())
		visits := -1 << 20
		s := newStore(t, store.Options{Workers: 1})
		table := register(t, s, store.TableOptions[picky]{MaxItems: 2, Links: func(*picky, func(*store.ID)) {
			if visits++; visits == last {
				end()
			}
		}})
		emplace := func(q store.Queue) { table.Emplace(q, picky{}) }
		emplace(queues(t, s, 1)[0])
		flush(t, s)
		emplace(queues(t, s, 1)[0])
		send(t, s, emplace)
		visits = 0
		r, err := s.Flush(ctx)
		if failed = err != nil; failed {
			wantError(t, "Flush", err, context.Canceled)
			noError(t, s.Write(t.Context(), func(w *store.Writer) { table.Clear(w) }))
			r = flush(t, s)
		}
		equal(t, fmt.Sprintf("calls dropped, the context ends at visit %d", last), r.DroppedCalls == 0, failed)
		equal(t, "items", table.Len(), 2)
		end()
	}
}

// A table above MaxItems, from a snapshot, takes erases but no creates.
func TestMaxItems_FullerTableTakesErases(t *testing.T) {
	fuller, from := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4})
	hs := fill(t, fuller, from, 16)
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 4, MaxItems: 5})
	noError(t, s.Load(t.Context(), bytes.NewReader(image(t, fuller))))
	for _, h := range hs {
		table.Erase(queues(t, s, 1)[0], h)
		flush(t, s)
		n := table.Len()
		table.Emplace(queues(t, s, 1)[0], item{})
		if _, err := s.Flush(t.Context()); (err == nil) != (n < 5) {
			t.Errorf("a create with %d items: %v", n, err)
		}
		noError(t, s.Discard())
	}
}
