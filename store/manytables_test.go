package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

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
