package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"handloom/internal/check"
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

// ofMost has the maximum number of shards, and an item in each except the last.
type ofMost struct {
	*store.Store
	table itemTable
	names []store.Handle[item]
	tasks []int // visited shards by step of the last flush
}

func newOfMost(t *testing.T, stable bool) *ofMost {
	t.Helper()
	s := newStore(t, store.Options{Workers: 2})
	c := &ofMost{Store: s, table: registerKind(t, s, store.TableOptions[item]{Shards: store.MaxShards, Changes: true}, stable)}
	c.names = fill(t, s, c.table, store.MaxShards-1)
	return c
}

func (c *ofMost) flush(t *testing.T) *store.Report {
	t.Helper()
	c.tasks = nil
	perturb(t, func(n int) func(int) int {
		c.tasks = append(c.tasks, n)
		return func(i int) int { return i }
	})
	defer perturb(t, nil)
	return flush(t, c.Store)
}

func TestFlush_VisitsShardsWithWorkOnly(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		c := newOfMost(t, stable)
		q := queues(t, c.Store, 1)[0]
		c.table.Erase(q, c.names[7])
		c.table.Put(q, c.names[40], item{Value: 1})
		c.flush(t)
		equalLists(t, "c.tasks", c.tasks, 2, 2, 2)
		c.table.Emplace(queues(t, c.Store, 1)[0], item{}) // for the eighth shard, after the erase
		c.flush(t)
		equalLists(t, "c.tasks[len(c.tasks)-2:]", c.tasks[len(c.tasks)-2:], 1, 1)
		c.table.EraseAll(queues(t, c.Store, 1)[0])
		if r := c.flush(t); c.tasks[0] != store.MaxShards || r.Total.Erased != 63 {
			t.Errorf("an EraseAll takes tasks %v: %v", c.tasks, r)
		}
	})
}

func TestBurst_IdleShardsReleaseMemory(t *testing.T) {
	if check.Full {
		t.Skip("a checked build keeps more")
	}
	c := newOfMost(t, false)
	tick := func() {
		c.table.Put(queues(t, c.Store, 1)[0], c.names[0], item{Value: 1})
		flush(t, c.Store)
	}
	for range 200 {
		tick()
	}
	before := heap()
	q := queues(t, c.Store, 1)[0]
	for range 50_000 {
		c.table.Put(q, c.names[9], item{Value: 2})
		c.table.Erase(q, c.names[11])
	}
	flush(t, c.Store)
	for range 200 {
		tick()
	}
	heapAtMost(t, "bytes more than before", before, 32<<10)
}

// ofMany is a store with many tables, three of which have work in each frame.
type ofMany struct {
	*store.Store
	working []itemTable
	names   [3]store.Handle[item]
	task    func(task int, q store.Queue)
}

func newOfMany(t *testing.T, tables int) *ofMany {
	t.Helper()
	c := &ofMany{Store: newStore(t, store.Options{Workers: 1})}
	for i := range tables {
		table := registerKind(t, c.Store, store.TableOptions[item]{Name: fmt.Sprint(i), Shards: 1 + i%3, Changes: i%2 == 0}, i%5 == 4)
		if i == 0 || i == tables/2 || i == tables-1 {
			c.working = append(c.working, table)
		}
		table.Emplace(queues(t, c.Store, 1)[0], item{Value: uint64(i)})
	}
	flush(t, c.Store)
	c.task = c.record
	return c
}

func (c *ofMany) record(_ int, q store.Queue) {
	for i, table := range c.working {
		if h, ok := table.Resolve(c.names[i]); ok {
			table.Erase(q, h)
		}
		c.names[i] = table.Emplace(q, item{Value: 7, Parent: c.names[i]})
		table.Put(q, c.names[i], item{Value: 8})
	}
}

func (c *ofMany) frame(ctx context.Context) error {
	if err := c.Each(ctx, 1, c.task); err != nil {
		return err
	}
	return onlyError(c.Flush(ctx))
}

func TestFlush_VisitsTablesWithWorkOnly(t *testing.T) {
	if check.Full {
		t.Skip("a checked build looks at every table")
	}
	c := newOfMany(t, 1000)
	frame := func(ctx context.Context) {
		noError(t, c.frame(ctx))
	}
	tasks := 0
	perturb(t, func(n int) func(int) int { tasks = max(tasks, n); return func(i int) int { return i } })
	frame(t.Context())
	perturb(t, nil)
	if tasks > 2*len(c.working) { // each erases an item and creates one
		t.Errorf("a flush has %d tasks, for two commands to each of %d tables", tasks, len(c.working))
	}
	show := c.Hide(func(name string) bool {
		return slices.ContainsFunc(c.working, func(table itemTable) bool { return table.Name() == name })
	})
	defer show()
	for range 300 {
		frame(t.Context())
	}
	if n := allocations(t.Context(), frame); n > 2*frameCount+slack && !check.Cheap && testing.CoverMode() == "" {
		t.Errorf("%d frames allocate %d objects", frameCount, n)
	}
}

// everyTable is a store whose ticks work in all of its tables.
type everyTable struct {
	*store.Store
	tables []*store.Table[item]
	frame  *store.Schedule
}

func newEveryTable(t *testing.T, tables int) *everyTable {
	t.Helper()
	c := &everyTable{Store: newStore(t, store.Options{Workers: 1})}
	var all []store.Resource
	for i := range tables {
		c.tables = append(c.tables, register(t, c.Store, store.TableOptions[item]{Name: fmt.Sprint(i)}))
		all = append(all, c.tables[i])
	}
	record := func(ctx context.Context) error { return c.Each(ctx, 1, c.record) }
	c.frame = newSchedule(t, c.Store,
		store.System{Name: "emits", Emits: all, Run: record},
		store.System{Name: "reads", Reads: all, Run: nothing},
		store.System{Name: "emits again", Emits: all, Writes: all, Run: record},
	)
	return c
}

func (c *everyTable) record(_ int, q store.Queue) {
	for _, table := range c.tables {
		table.Erase(q, table.Emplace(q, item{}))
	}
}

func (c *everyTable) tick(t *testing.T) {
	t.Helper()
	runFrame(t, c.Store, func(ctx context.Context, w *store.Writer) error {
		for _, table := range slices.Concat(c.tables, c.tables) {
			table.Insert(w, item{})
		}
		report, err := c.frame.Run(ctx)
		if err == nil && (len(report.Tables) != len(c.tables) || report.Tables[len(c.tables)-1].CancelledOut != 4) {
			t.Fatalf("%d tables, the last with %v", len(report.Tables), report.Tables[len(c.tables)-1])
		}
		return err
	})
}

// A step that visits all tables once per table would show as a square.
func TestTick_VisitsTablesAFewTimes(t *testing.T) {
	if check.Cheap {
		t.Skip("checks look at tables, too")
	}
	perTable := func(tables int) int {
		c := newEveryTable(t, tables)
		c.tick(t)
		visits, stop := c.CountVisits()
		c.tick(t)
		stop()
		return *visits / tables
	}
	few, many := perTable(40), perTable(1600)
	if few < 3 || many > 4*few { // a sort takes the logarithm
		t.Errorf("each of 1,600 tables is looked at %d times in a tick, each of 40 tables %d times", many, few)
	}
}

// A Write notes a changed table without a search of the earlier ones.
func TestWrite_NotesATableOnce(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	for range 2 {
		write(t, s, func(w *store.Writer) {
			for i, want := range []int{1, 0, 0} {
				table.Clear(w)
				equal(t, fmt.Sprintf("change %d: tables noted anew", i), w.ForgetChanged(), want)
			}
		})
	}
}
