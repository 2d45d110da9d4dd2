package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"handloom/batch"
	"handloom/store"
)

func TestContext_AfterItsPhaseIsErrPhase(t *testing.T) {
	for _, kind := range []string{"Read", "Frame", "ForEach", "Each", "Do", "system"} {
		atOnce(t, func(t *testing.T) {
			v := newVisitor(t)
			var kept context.Context
			noError(t, v.enter(t.Context(), []string{kind}, func(ctx context.Context) { kept = ctx }))
			calls := phases(v.Store, v.outer)
			calls["Close"] = func(ctx context.Context) error { return onlyError(v.Close(ctx)) }
			calls["Run"] = func(ctx context.Context) error { return onlyError(v.frame.Run(ctx)) }
			for what, call := range calls {
				wantError(t, what+" with the context of an ended "+kind, call(kept), store.ErrPhase)
			}
			usable(t, v.Store, v.outer)
		})
	}
}

// A flush that waits for a Write does not block the flushes of the Write.
func TestFlush_OneWaitsAtATime(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		waiting := func() *call {
			table.Emplace(queues(t, s, 1)[0], item{})
			return begin(func() error { return onlyError(s.Flush(context.Background())) })
		}
		release := hold(t, s)
		first := waiting()
		synctest.Wait()
		wantError(t, "the second flush", onlyError(s.Flush(t.Context())), store.ErrPhase)
		release()
		wantError(t, "first", first.result(), nil)
		equal(t, "items", table.Len(), 1)
		table.Emplace(queues(t, s, 1)[0], item{})
		runFrame(t, s, func(ctx context.Context, _ *store.Writer) error {
			first = begin(func() error { return onlyError(s.Flush(context.Background())) })
			synctest.Wait()
			return onlyError(s.Flush(ctx))
		})
		wantError(t, "first", first.result(), nil)
		equal(t, "items", table.Len(), 2)
	})
}

// A nested Reduce does not read a table that an outer pass writes, at any depth.
func TestReduce_InsideAPassReadsOtherTables(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	fill(t, s, table, 1)
	fill(t, s, other, 10)
	check := func(ctx context.Context, depth string) {
		wantError(t, depth, onlyError(sum(ctx, table)), store.ErrPhase)
		if got, err := sum(ctx, other); got != 45 || err != nil {
			t.Errorf("%s over another table: %d, %v", depth, got, err)
		}
	}
	nest := func(ctx context.Context, f func(ctx context.Context)) {
		_, err := store.Reduce(ctx, other, func(_ store.Chunk[item]) int { f(ctx); return 0 }, addInt)
		wantError(t, "", err, nil)
	}
	pass := func(ctx context.Context) error {
		return table.ForEach(ctx, func(c store.Chunk[item]) {
			check(c.Queue.Context(), "in the pass")
			nest(c.Queue.Context(), func(ctx context.Context) {
				check(ctx, "in one Reduce")
				nest(ctx, func(ctx context.Context) { check(ctx, "in two") })
			})
		})
	}
	alone := pass(t.Context())
	_, whole := s.Frame(t.Context(), func(ctx context.Context, _ *store.Writer) error { return pass(ctx) })
	system := store.System{Name: "only", Reads: on(other), Writes: on(table), Run: pass}
	_, framed := newSchedule(t, s, system).Run(t.Context())
	noError(t, errors.Join(alone, whole, framed))
}

func sum(ctx context.Context, table *store.Table[item]) (uint64, error) {
	return store.Reduce(ctx, table, func(r store.Chunk[item]) (n uint64) {
		for i := range r.Items {
			n += r.Items[i].Value
		}
		return n
	}, func(a, b uint64) uint64 { return a + b })
}

func recordings(table *store.Table[item], q store.Queue) map[string]func() {
	return map[string]func(){
		"Emplace":      func() { table.Emplace(q, item{}) },
		"EmplaceItems": func() { table.EmplaceItems(q, make([]item, 2), nil) },
		"EmplaceFunc":  func() { store.EmplaceFunc(table, q, func(store.Handle[item], *item) {}) },
		"Staged":       func() { table.Staged(q, store.Handle[item]{}) },
		"Erase":        func() { table.Erase(q, store.Handle[item]{}) },
		"EraseItems":   func() { table.EraseItems(q, make([]store.Handle[item], 2)) },
		"Put":          func() { table.Put(q, store.Handle[item]{}, item{}) },
		"Queue.Erase":  func() { q.Erase(compose(1, 1, 0)) },
	}
}

func refused(t *testing.T, table *store.Table[item], q store.Queue, message string) {
	t.Helper()
	for what, record := range recordings(table, q) {
		wantIn(t, what, panicOf(record), message)
	}
}

func TestQueue_MisusePanics(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	fill(t, s, table, 1)
	refused(t, table, store.Queue{}, "zero Queue")

	stranger := newStore(t, store.Options{})
	register(t, stranger, store.TableOptions[item]{})
	foreign := queues(t, stranger, 1)[0]
	for what, record := range recordings(table, foreign) {
		if what == "Queue.Erase" {
			continue // has no table of this store
		}
		wantIn(t, what+" with a queue of another store", panicOf(record), "task 0 in pass 0 belongs to another store")
	}
	equal(t, "commands of the other store", stranger.Pending().Commands, 0)

	var kept store.Queue
	pass := func(err error) {
		_ = s.Each(t.Context(), 3, func(task int, q store.Queue) {
			table.Emplace(q, item{})
			if task == 2 {
				kept = q
			}
			q.Fail(err)
		})
	}
	pass(nil)
	refused(t, table, kept, "task 2 in pass 0 was kept past its pass")
	pass(errTask)
	refused(t, table, kept, "task 2 in pass 1 was kept past its pass")
	wantFlush(t, s, batch.Counts{Created: 3})
	refused(t, table, kept, "task 2 in pass 1 was kept past its flush")

	for _, end := range []func(){
		func() { flush(t, s) },
		func() { table.Emplace(queues(t, s, 1)[0], item{}); flush(t, s) },
		func() { _ = s.Discard() },
		func() { _, _ = s.Close(t.Context()) },
	} {
		kept = queues(t, s, 1)[0]
		end()
		refused(t, table, kept, "task 0 in pass 0 was kept past its flush")
	}
}

// Two goroutines may call Queues and Discard in any order.
func TestQueues_PairsKeepTheStore(t *testing.T) {
	for _, names := range []string{"Queues Queues", "Queues Discard", "Discard Discard"} {
		s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
		calls := map[string]func() error{"Queues": func() error { return onlyError(s.Queues(20)) }, "Discard": s.Discard}
		for range 200 {
			var both sync.WaitGroup
			for name := range strings.FieldsSeq(names) {
				both.Go(func() {
					if err := calls[name](); err != nil {
						t.Errorf("%s: %v", names, err)
					}
				})
			}
			both.Wait()
		}
		noError(t, s.Discard())
		fill(t, s, table, 3)
		equal(t, names+": items", table.Len(), 3)
	}
}

func TestWriter_MisusePanics(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "stable"})
	live := fill(t, s, table, 1)[0]
	var none store.Handle[item]
	refuses := func(w *store.Writer, message string) {
		t.Helper()
		for what, change := range map[string]func(){
			"Insert": func() { table.Insert(w, item{}) },
			"Remove": func() { table.Remove(w, live) },
			"Clear":  func() { table.Clear(w) },

			"Remove of no item":        func() { table.Remove(w, none) },
			"Remove of no stable item": func() { stable.Remove(w, none) },

			"Insert stable": func() { stable.Insert(w, item{}) },
			"Remove stable": func() { stable.Remove(w, live) },
			"Clear stable":  func() { stable.Clear(w) },
		} {
			got := panicOf(change)
			call, _, _ := strings.Cut(what, " ")
			wantIn(t, what, got, call+" ")
			wantIn(t, what, got, message)
		}
	}
	refuses(nil, "a Writer that no Write or Frame gave")
	refuses(&store.Writer{}, "a Writer that no Write or Frame gave")
	var kept *store.Writer
	runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
		kept = w
		table.Remove(w, table.Insert(w, item{})) // only the first use of a table in a Frame is slow
		stable.Remove(w, stable.Insert(w, item{}))
		return s.Each(ctx, 1, func(int, store.Queue) {
			refuses(w, "while a pass or flush runs in the same Frame")
		})
	})
	refuses(kept, "a Writer whose Write or Frame has ended")
	write(t, newStore(t, store.Options{}), func(w *store.Writer) { refuses(w, "the Writer of another store") })
	equal(t, "items", table.Len(), 1)
}

func TestChunk_HandleOutsideItPanics(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{ChunkItems: 2})
	hs := fill(t, s, table, 4)
	noError(t, table.ForEach(t.Context(), func(c store.Chunk[item]) {
		equal(t, "c.Handle(1)", c.Handle(1), hs[c.Index*2+1])
		equal(t, "cap(c.Items)", cap(c.Items), 2)
		if panicOf(func() { c.Handle(2) }) == "" || panicOf(func() { c.Erase(-1) }) == "" {
			t.Error("a row of another chunk has a handle")
		}
	}))
}
