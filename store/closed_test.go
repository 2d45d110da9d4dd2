package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"handloom/store"
)

func findsNothing(t tb, s *store.Store, table itemTable, h store.Handle[item]) {
	t.Helper()
	if found(table.Get(h)) || table.Has(h) || table.Len() != 0 {
		t.Errorf("a lookup finds an item of %d", table.Len())
	}
	equal(t, "At finds an item", panicOf(func() { table.At(h) }) == "", false)
	equal(t, "items of All", len(itemsOf(table)), 0)
}

func TestClose_PhasesFailAndLookupsFindNothing(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 3})
		stable := registerStable(t, s, store.TableOptions[item]{Name: "stable", Shards: 3})
		g := fill(t, s, stable, 5)[4]
		p := table.EmplaceItems(queues(t, s, 1)[0], make([]item, 5), nil)[4]
		flush(t, s)
		h := resolve(t, table, p)
		q := queues(t, s, 1)[0]
		table.EmplaceItems(q, make([]item, 4), nil)
		noError(t, s.Each(t.Context(), 2, func(task int, q store.Queue) { table.Erase(q, h) }))
		if unapplied, err := s.Close(t.Context()); unapplied != 6 || err != nil {
			t.Errorf("Close: %d commands, %v; want 6", unapplied, err)
		}

		calls := phases(s, table)
		calls["Close"] = func(ctx context.Context) error { return onlyError(s.Close(ctx)) }
		calls["Register"] = func(context.Context) error {
			return faultOf(func() { store.Register(s, store.TableOptions[item]{Name: "late"}) })
		}
		calls["RegisterStable"] = func(context.Context) error {
			return faultOf(func() { store.RegisterStable(s, store.TableOptions[item]{Name: "late"}) })
		}
		calls["ForEach, stable"] = func(ctx context.Context) error { return stable.ForEach(ctx, func(store.StableChunk[item]) {}) }
		calls["Reduce, stable"] = func(ctx context.Context) error { return onlyError(sumStable(ctx, stable)) }
		calls["Queues"] = func(context.Context) error { return onlyError(s.Queues(1)) }
		calls["Discard"] = func(context.Context) error { return s.Discard() }
		for what, call := range calls {
			wantError(t, what, call(t.Context()), store.ErrClosed)
		}
		findsNothing(t, s, packedTable{table}, h)
		findsNothing(t, s, stableTable{stable}, g)
		equal(t, "a name resolves", found(table.Resolve(p)), false)
		if got := s.Stats(); got.Epoch != 2 || got.Tables[0].Live != 5 {
			t.Errorf("Stats are no longer those of the last flush: %+v", got)
		}
		refused(t, table, q, "kept past its flush")
	})
}

func TestClose_WaitsForOpenPhases(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		table.Emplace(queues(t, s, 1)[0], item{})
		_ = s.Read(t.Context(), func(context.Context) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if n, err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || n != 0 {
				t.Errorf("Close during a Read: %d, %v", n, err)
			}
			return nil
		})
		flush(t, s)
		release := hold(t, s)
		closed := begin(func() error { return onlyError(s.Close(context.Background())) })
		closed.waits(t, "Close")
		release()
		noError(t, closed.result())
	})
}
