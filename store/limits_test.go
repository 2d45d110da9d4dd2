package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/store"
)

const (
	itemBytes = int64(unsafe.Sizeof(item{}))
	putBytes  = itemBytes + 8
)

func TestTheBytesAQueueMayHoldAreExact(t *testing.T) {
	const n = 10
	for what, c := range map[string]struct {
		bytes  int64 // of one command
		record func(table *store.Table[item], q store.Queue)
	}{
		"creates":  {itemBytes, func(table *store.Table[item], q store.Queue) { table.Emplace(q, item{}) }},
		"bulk":     {itemBytes, func(table *store.Table[item], q store.Queue) { table.EmplaceItems(q, make([]item, 1), nil) }},
		"puts":     {putBytes, func(table *store.Table[item], q store.Queue) { table.Put(q, store.Handle[item]{}, item{}) }},
		"erases":   {8, func(table *store.Table[item], q store.Queue) { table.Erase(q, store.Handle[item]{}) }},
		"unrouted": {8, func(_ *store.Table[item], q store.Queue) { q.Erase(compose(9000, 1, 1)) }},
	} {
		for _, more := range []int64{0, 1} {
			t.Run(fmt.Sprintf("%s/more=%d", what, more), func(t *testing.T) {
				s, table := newTable(t, store.Options{QueueBytes: n*c.bytes - more}, store.TableOptions[item]{})
				err := s.Each(t.Context(), 3, func(_ context.Context, task int, q store.Queue) error {
					for range n {
						if task == 1 {
							c.record(table, q)
						}
					}
					return nil
				})
				if errors.Is(err, store.ErrQueueFull) != (more > 0) || (err == nil) == (more > 0) {
					t.Errorf("Each: %v", err)
				}
				err = s.Inbox(func(q store.Queue) error {
					for range n {
						c.record(table, q)
					}
					return nil
				})
				if errors.Is(err, store.ErrQueueFull) != (more > 0) || (err == nil) == (more > 0) {
					t.Errorf("Inbox: %v", err)
				}
				want := store.Pending{}
				if more == 0 {
					want = store.Pending{Commands: 2 * n, Bytes: 2 * n * c.bytes}
				}
				if got := s.Pending(); got != want {
					t.Errorf("%+v is pending, want %+v", got, want)
				}
			})
		}
	}
}

// starts are all calls that begin a queue; what they run counts itself.
func starts(s *store.Store, table *store.Table[item], ran *int) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"ForEach": func(ctx context.Context) error {
			return table.ForEach(ctx, func(context.Context, store.Chunk[item]) error { *ran++; return nil })
		},
		"Each": func(ctx context.Context) error {
			return s.Each(ctx, 1, func(context.Context, int, store.Queue) error { *ran++; return nil })
		},
		"Queues": func(context.Context) error { _, err := s.Queues(1); return err },
		"Inbox":  func(context.Context) error { return s.Inbox(func(store.Queue) error { *ran++; return nil }) },
	}
}

// A batch at its limit takes what the pass that fills it records, and nothing
// more until it is flushed.
func TestNoQueueBeginsWhileTheBatchIsAtItsLimit(t *testing.T) {
	for _, o := range []store.Options{{BatchLimit: 10}, {BatchBytes: 10 * itemBytes}, {BatchLimit: 10, BatchBytes: 1 << 40}} {
		for _, full := range []int{9, 10, 11} {
			s, table := newTable(t, o, store.TableOptions[item]{})
			fill(t, s, table, 1)
			err := s.Each(t.Context(), 1, func(_ context.Context, _ int, q store.Queue) error {
				table.EmplaceItems(q, make([]item, full), nil)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			before := s.Pending()
			if math.Abs(before.Fill-float64(full)/10) > 1e-9 || before.Commands != full {
				t.Errorf("%+v: %+v is pending", o, before)
			}
			ran := 0
			for what, start := range starts(s, table, &ran) {
				if err := start(t.Context()); errors.Is(err, store.ErrQueueFull) != (full >= 10) || (err == nil) == (full >= 10) {
					t.Errorf("%+v, %s of a batch of %d: %v", o, what, full, err)
				}
			}
			if full >= 10 && ran > 0 || s.Pending() != before {
				t.Errorf("%d functions were called; %+v is pending, before %+v", ran, s.Pending(), before)
			}
			// A failed flush makes no room, a flush or Discard does.
			if _, err := s.Flush(ended{t.Context()}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if err := s.Each(t.Context(), 1, nothingToDo); (err == nil) == (full >= 10) {
				t.Errorf("Each after a flush that failed: %v", err)
			}
			if report := flush(t, s); report.Total.Created != full {
				t.Errorf("%v", report)
			}
			for what, start := range starts(s, table, &ran) {
				if err := start(t.Context()); err != nil {
					t.Errorf("%s after the flush: %v", what, err)
				}
			}
		}
	}
}

func nothingToDo(context.Context, int, store.Queue) error { return nil }

func TestFillIsTheGreaterPartOfTheTwoLimits(t *testing.T) {
	record := func(o store.Options, n int) store.Pending {
		s, table := newTable(t, o, store.TableOptions[item]{})
		q := queues(t, s, 1)[0]
		for range n {
			table.Erase(q, store.Handle[item]{})
		}
		table.Emplace(q, item{})
		return s.Pending()
	}
	for _, c := range []struct {
		o    store.Options
		want float64
	}{
		{store.Options{}, 0},
		{store.Options{BatchLimit: 10}, 0.4},
		{store.Options{BatchBytes: 4 * (24 + itemBytes)}, 0.25},
		{store.Options{BatchLimit: 10, BatchBytes: 4 * (24 + itemBytes)}, 0.4},
		{store.Options{BatchLimit: 100, BatchBytes: 4 * (24 + itemBytes)}, 0.25},
	} {
		if got := record(c.o, 3); got != (store.Pending{Commands: 4, Bytes: 24 + itemBytes, Fill: c.want}) {
			t.Errorf("%+v: %+v, want %v", c.o, got, c.want)
		}
	}
}

// Goroutines may record into the queues of Queues while passes begin. How much
// they have recorded is timing, and counts only once they are done.
func TestPassesBeginBesideGoroutinesThatRecord(t *testing.T) {
	s, table := newTable(t, store.Options{BatchLimit: 50, Workers: 2}, store.TableOptions[item]{})
	fill(t, s, table, 10)
	var recorders []*call
	for _, q := range queues(t, s, 4) {
		recorders = append(recorders, begin(func() error {
			for i := range 1000 {
				table.Put(q, store.Handle[item]{}, item{})
				table.Erase(q, table.Emplace(q, item{Value: uint64(i)}))
			}
			return nil
		}))
	}
	for pass := range 100 {
		err := s.Each(t.Context(), 2, func(_ context.Context, task int, q store.Queue) error {
			if pass%4 == task {
				table.Emplace(q, item{})
			}
			return nil
		})
		if (err == nil) != (pass < 98) { // by then they hold 50 commands
			t.Errorf("pass %d: %v", pass, err)
		}
	}
	for _, c := range recorders {
		_ = c.result()
	}
	if report := flush(t, s); report.Total != (batch.Counts{Created: 50, CancelledOut: 8000, Stale: 4000}) {
		t.Errorf("%v", report)
	}
}

// A table of eight that is full keeps the whole batch from being applied, until
// there is room; then the same batch is.
func TestALimitReachedInOneOfEightTablesKeepsTheBatch(t *testing.T) {
	for victim := range 8 {
		s := newStore(t, store.Options{Workers: 3})
		var tables []itemTable
		var live []store.Handle[item]
		for i := range 8 {
			o := store.TableOptions[item]{Name: fmt.Sprint(i), Shards: 1 + i%3}
			if i == victim {
				o.MaxItems = 12
			}
			tables = append(tables, registerKind(t, s, o, i%2 == 1))
			live = append(live, tables[i].EmplaceItems(queues(t, s, 1)[0], make([]item, 10), nil)...)
		}
		flush(t, s)
		for i, p := range live {
			live[i] = resolve(t, tables[i/10], p)
		}
		before := digest(t, s)
		q := queues(t, s, 1)[0]
		for i, table := range tables {
			table.EmplaceItems(q, make([]item, 5), nil)
			table.Put(q, live[10*i], item{Value: 5})
			table.Erase(q, live[10*i+1])
		}
		pending := s.Pending()
		for range 2 {
			_, err := s.Flush(t.Context())
			if !errors.Is(err, store.ErrFull) || digest(t, s) != before || s.Pending() != pending {
				t.Fatalf("table %d is full: %v; pending %+v, before %+v", victim, err, s.Pending(), pending)
			}
		}
		tables[victim].EraseItems(queues(t, s, 1)[0], live[10*victim+3:10*victim+5])
		if report := flush(t, s); report.Total != (batch.Counts{Created: 40, Put: 8, Erased: 10}) {
			t.Errorf("table %d had room: %v", victim, report)
		}
	}
}

// The same for one shard of eight: it has no slots left.
func TestALimitReachedInOneOfEightShardsKeepsTheBatch(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		setWidths(t, 1, 16)
		for victim := range 8 {
			s := newStore(t, store.Options{Workers: 3})
			table := registerKind(t, s, store.TableOptions[item]{Shards: 8}, stable)
			hs := table.EmplaceItems(queues(t, s, 1)[0], make([]item, 8*15), nil)
			flush(t, s)
			for i, p := range hs {
				hs[i] = resolve(t, table, p)
			}
			// The victim loses two slots, and levelling has it take two creates.
			q := queues(t, s, 1)[0]
			table.EraseItems(q, hs[victim*15:victim*15+2])
			flush(t, s)
			before := digest(t, s)
			q = queues(t, s, 1)[0]
			names := table.EmplaceItems(q, make([]item, 2), nil)
			table.Put(q, hs[(victim*15+20)%120], item{Value: 7})
			pending := s.Pending()
			for range 2 {
				_, err := s.Flush(t.Context())
				if !errors.Is(err, store.ErrFull) || digest(t, s) != before || s.Pending() != pending {
					t.Fatalf("shard %d is full: %v; %+v is pending", victim, err, s.Pending())
				}
			}
			table.Erase(queues(t, s, 1)[0], names[0])
			if report := flush(t, s); report.Total != (batch.Counts{Created: 1, Put: 1, CancelledOut: 2}) {
				t.Errorf("shard %d had room: %v", victim, report)
			}
		}
	})
}

// Maps bounds each shard by MaxItems, and so a table may come to hold more. It
// takes no creates then, but all else.
func TestATableThatHoldsMoreThanMaxItemsIsFlushedUnlessItWouldGrow(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 2, MaxItems: 4}, stable)
		var hs []store.Handle[item]
		err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
			for range 4 {
				for _, insert := range inserters(table, w) {
					h, err := insert(item{})
					if err != nil {
						return err
					}
					hs = append(hs, h)
				}
			}
			return nil
		})
		if err != nil || table.Len() != 8 {
			t.Fatalf("%d items, %v", table.Len(), err)
		}
		q := queues(t, s, 1)[0]
		table.Put(q, hs[7], item{Value: 7})
		table.Erase(q, hs[0])
		if report := flush(t, s); report.Total != (batch.Counts{Put: 1, Erased: 1}) || table.Len() != 7 {
			t.Errorf("%v, %d items", report, table.Len())
		}
		q = queues(t, s, 1)[0]
		table.Erase(q, table.Emplace(q, item{}))
		if report := flush(t, s); report.Total != (batch.Counts{CancelledOut: 2}) {
			t.Errorf("%v", report)
		}
		q = queues(t, s, 1)[0]
		table.EraseItems(q, hs[1:4])
		table.Emplace(q, item{})
		if _, err := s.Flush(t.Context()); !errors.Is(err, store.ErrFull) || table.Len() != 7 {
			t.Errorf("a create for a fifth item: %v, %d items", err, table.Len())
		}
		table.Erase(q, hs[4])
		if report := flush(t, s); report.Total != (batch.Counts{Created: 1, Erased: 4}) || table.Len() != 4 {
			t.Errorf("%v, %d items", report, table.Len())
		}
	})
}

// inserters are the Insert of each shard's map.
func inserters(table itemTable, w *store.Writer) (all []func(item) (store.Handle[item], error)) {
	switch table := table.(type) {
	case packedTable:
		for _, m := range store.Maps(table.Table, w) {
			all = append(all, m.Insert)
		}
	case stableTable:
		for _, m := range store.StableMaps(table.StableTable, w) {
			all = append(all, m.Insert)
		}
	}
	return all
}

// The report is good until the next flush, and so no flush may come before the one
// that returns it has.
func TestAFlushInsideAfterFlushIsErrPhaseAndLeavesTheReport(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		var again func() error
		s := newStore(t, store.Options{AfterFlush: func(*store.Report) {
			if err := again(); !errors.Is(err, store.ErrPhase) {
				t.Errorf("a flush inside AfterFlush: %v", err)
			}
		}})
		table := register(t, s, store.TableOptions[item]{})
		frame := newSchedule(t, s, store.System{Name: "only", Emits: on(table), Run: emplace(s, table, 1)})
		inside := t.Context() // that of the Write, if there is one
		flushes := map[string]func() error{
			"Flush":       func() error { _, err := s.Flush(inside); return err },
			"Flush alone": func() error { _, err := s.Flush(t.Context()); return err },
			"frame":       func() error { _, err := frame.Run(inside); return err },
			"Write": func() error {
				return s.Write(t.Context(), func(ctx context.Context, _ *store.Writer) error { _, err := s.Flush(ctx); return err })
			},
		}
		items := 0
		check := func(what string, flush func(ctx context.Context) (*store.Report, error)) {
			for name, f := range flushes {
				if what == "a Write" && name == "Write" {
					continue // it would wait for itself
				}
				again = f
				items++
				report, err := flush(inside)
				if err != nil || report.Total != (batch.Counts{Created: 1}) || report.Epoch != uint64(items) || table.Len() != items {
					t.Errorf("%s, with %s inside AfterFlush: %v, %v, %d items", what, name, report, err, table.Len())
				}
			}
		}
		one := func(ctx context.Context) (*store.Report, error) {
			err := s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error { table.Emplace(q, item{}); return nil })
			report, err2 := s.Flush(ctx)
			return report, errors.Join(err, err2)
		}
		check("a flush", one)
		check("a frame", frame.Run)
		err := s.Write(t.Context(), func(ctx context.Context, _ *store.Writer) error {
			inside = ctx
			check("a Write", one)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for _, end := range []func(){func() { panic("a fault of the test") }, runtime.Goexit} {
			again = func() error { end(); return nil }
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = panicOf(func() { _, _ = one(t.Context()) })
			}()
			<-done
		}
		again = func() error { return store.ErrPhase }
		usable(t, s, table)
	})
}

// The report is that of Flush, the phase has ended, and a flush that does
// nothing or fails is none.
func TestAfterFlushIsCalledOnceForEachFlushThatAppliesSomething(t *testing.T) {
	var reports []*store.Report
	var got []uint64
	var s *store.Store
	var table *store.Table[item]
	s, table = newTable(t, store.Options{AfterFlush: func(r *store.Report) {
		reports = append(reports, r)
		got = append(got, r.Epoch)
		if _, err := s.Digest(context.Background()); err != nil {
			t.Errorf("inside AfterFlush: %v", err)
		}
	}}, store.TableOptions[item]{MaxItems: 3})
	for range 2 {
		table.Emplace(queues(t, s, 1)[0], item{})
		report, err := s.Flush(t.Context())
		if err != nil || reports[len(reports)-1] != report {
			t.Errorf("%v, %v", report, err)
		}
		flush(t, s)
		queues(t, s, 2)
		flush(t, s)
	}
	table.EmplaceItems(queues(t, s, 1)[0], make([]item, 2), nil)
	if _, err := s.Flush(t.Context()); !errors.Is(err, store.ErrFull) {
		t.Error(err)
	}
	if err := s.Discard(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(got, []uint64{1, 2}) {
		t.Errorf("AfterFlush was called for the epochs %v", got)
	}
}
