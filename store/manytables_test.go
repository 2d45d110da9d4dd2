package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"handloom/internal/check"
	"handloom/store"
)

// ofMany is a store with many tables, of which three have work in each frame.
type ofMany struct {
	*store.Store
	working []itemTable
	names   [3]store.Handle[item]
	task    func(ctx context.Context, task int, q store.Queue) error // record, bound once
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
	flush(t, c.Store) // every table has had work once
	c.task = c.record
	return c
}

func (c *ofMany) record(_ context.Context, _ int, q store.Queue) error {
	for i, table := range c.working {
		if h, ok := table.Resolve(c.names[i]); ok {
			table.Erase(q, h)
		}
		c.names[i] = table.Emplace(q, item{Value: 7, Parent: c.names[i]})
		table.Put(q, c.names[i], item{Value: 8})
	}
	return nil
}

// frame returns how long its flush took.
func (c *ofMany) frame(ctx context.Context) (took time.Duration, err error) {
	if err := c.Each(ctx, 1, c.task); err != nil {
		return 0, err
	}
	begin := time.Now()
	_, err = c.Flush(ctx)
	return time.Since(begin), err
}

func TestAFlushCostsAsMuchAsTheTablesWithWorkDo(t *testing.T) {
	if check.Full {
		t.Skip("a checked build looks at every table")
	}
	few, many := newOfMany(t, 3), newOfMany(t, 1000)
	for _, c := range []*ofMany{few, many} {
		tasks := 0
		c.SetPerturb(func(n int) func(int) int { tasks = max(tasks, n); return func(i int) int { return i } })
		if _, err := c.frame(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.SetPerturb(nil)
		want := 0
		for _, table := range c.working {
			want += c.shards(table.Name())
		}
		if tasks != want {
			t.Errorf("a flush has %d tasks, for tables with %d shards", tasks, want)
		}
	}
	if raceDetector {
		return // durations mean nothing
	}
	// What goes through all tables takes several times as long, what does not the
	// same; noise of the machine is given another try.
	var ratio float64
	for range 5 {
		if ratio = medianOf(t, many) / medianOf(t, few); ratio < 2 {
			break
		}
	}
	if ratio >= 2 {
		t.Errorf("a flush with work for three of a thousand tables takes %.1f times as long as with three tables", ratio)
	}
	if n := allocations(t.Context(), func(ctx context.Context) { _, _ = many.frame(ctx) }); n > 2*frameCount+slack {
		t.Errorf("%d frames allocate %d objects", frameCount, n)
	}
}

func (c *ofMany) shards(name string) int {
	tables := c.Stats().Tables
	return tables[slices.IndexFunc(tables, func(s store.TableStats) bool { return s.Name == name })].Shards
}

// medianOf is the median of the durations of flushes.
func medianOf(t *testing.T, c *ofMany) float64 {
	t.Helper()
	var all []time.Duration
	for range 300 {
		took, err := c.frame(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return float64(all[len(all)/2])
}

// everyTable is a store whose ticks have work in all of its tables: changes at
// once, commands, and a frame with two flushes.
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
	frame, err := store.NewSchedule(c.Store,
		store.System{Name: "emits", Emits: all, Run: record},
		store.System{Name: "reads", Reads: all, Run: func(context.Context) error { return nil }},
		store.System{Name: "emits again", Emits: all, Writes: all, Run: record},
	)
	if err != nil {
		t.Fatal(err)
	}
	c.frame = frame
	return c
}

func (c *everyTable) record(_ context.Context, _ int, q store.Queue) error {
	for _, table := range c.tables {
		table.Erase(q, table.Emplace(q, item{}))
	}
	return nil
}

// tick returns how long it took.
func (c *everyTable) tick(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	err := c.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
		for range 2 {
			for _, table := range c.tables {
				if _, err := table.Insert(w, item{}); err != nil {
					return err
				}
			}
		}
		report, err := c.frame.Run(ctx)
		if err == nil && (len(report.Tables) != len(c.tables) || report.Tables[len(c.tables)-1].CancelledOut != 4) {
			t.Fatalf("%d tables, the last with %v", len(report.Tables), report.Tables[len(c.tables)-1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(begun)
}

// If a step of a tick looked at all tables for each of them, forty times as many
// tables would take a thousand times as long.
func TestATickCostsAsMuchAsItsCommandsDo(t *testing.T) {
	if check.Cheap {
		t.Skip("checks take the time")
	}
	took := func(tables int) time.Duration {
		c := newEveryTable(t, tables)
		var all []time.Duration
		for range 7 {
			all = append(all, c.tick(t))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	few, many := took(40), took(1600)
	if factor := many / max(few, 1); factor > 200 {
		t.Errorf("1,600 tables take %v, %d times as long as 40 with %v", many, factor, few)
	}
}
