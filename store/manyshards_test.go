package store_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

// ofMost is a store with a table of as many shards as there can be, and an item in each
// of them but for the last.
type ofMost struct {
	*store.Store
	table itemTable
	names []store.Handle[item] // by shard
	tasks []int                // of the steps of the last flush
}

func newOfMost(t *testing.T, o store.TableOptions[item], stable bool) *ofMost {
	t.Helper()
	o.Shards = store.MaxShards
	s := newStore(t, store.Options{Workers: 2})
	c := &ofMost{Store: s, table: registerKind(t, s, o, stable)}
	q := queues(t, s, 1)[0]
	for range store.MaxShards - 1 {
		c.names = append(c.names, c.table.Emplace(q, item{}))
	}
	flush(t, s)
	for i, p := range c.names {
		c.names[i], _ = c.table.Resolve(p)
	}
	return c
}

// flush flushes and notes how many shards each step has looked at.
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

// record records in one task.
func (c *ofMost) record(ctx context.Context, t *testing.T, f func(q store.Queue)) {
	t.Helper()
	if err := c.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error { f(q); return nil }); err != nil {
		t.Fatal(err)
	}
}

func TestAFlushLooksAtTheShardsWithWorkAlone(t *testing.T) {
	for _, stable := range []bool{false, true} {
		c := newOfMost(t, store.TableOptions[item]{Changes: true}, stable)
		q := queues(t, c.Store, 1)[0]
		c.table.Erase(q, c.names[7])
		c.table.Put(q, c.names[40], item{Value: 1})
		if c.flush(t); fmt.Sprint(c.tasks) != "[2 2 2 2]" {
			t.Errorf("stable %t: an erase and a put take tasks %v", stable, c.tasks)
		}
		c.table.Emplace(queues(t, c.Store, 1)[0], item{}) // for the eighth shard, behind the erase
		if c.flush(t); fmt.Sprint(c.tasks[len(c.tasks)-2:]) != "[1 1]" {
			t.Errorf("stable %t: a create takes tasks %v", stable, c.tasks)
		}
		c.table.EraseAll(queues(t, c.Store, 1)[0])
		if r := c.flush(t); c.tasks[0] != store.MaxShards || r.Total.Erased != 63 {
			t.Errorf("stable %t: an EraseAll takes tasks %v: %v", stable, c.tasks, r)
		}
	}
}

// What one frame lists of a shard is over with the next, even if that does not come to
// the shard; within the frame it stays, and a Write behind it is noticed all the same.
func TestListsOfShardsThatAFlushDoesNotComeTo(t *testing.T) {
	c := newOfMost(t, store.TableOptions[item]{Changes: true}, false)
	table := c.table.(packed[item]).Table
	erase := func(ctx context.Context, shard int) {
		t.Helper()
		c.record(ctx, t, func(q store.Queue) { table.Erase(q, c.names[shard]) })
	}
	listed := func() (shards []int) {
		for h := range store.Erased(table) {
			shards = append(shards, int(h.ID.TypeID()-c.names[0].ID.TypeID()))
		}
		return shards
	}
	expect := func(when string, want ...int) {
		t.Helper()
		if got := listed(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: erased in shards %v, want %v", when, got, want)
		}
	}
	erase(t.Context(), 3)
	c.flush(t)
	expect("first frame", 3)
	err := c.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
		erase(ctx, 5)
		flushInWrite(ctx, t, c.Store)
		expect("second frame", 5)
		var p store.Handle[item]
		c.record(ctx, t, func(q store.Queue) { p = table.Emplace(q, item{}) }) // in shard 3, whose slot was vacant
		flushInWrite(ctx, t, c.Store)
		h, _ := table.Resolve(p)
		table.Remove(w, h)
		again, err := table.Insert(w, item{}) // in the same slot, and it is none of the frame's creates
		if err != nil || again.ID.Slot() != h.ID.Slot() || again.ID.TypeID() != h.ID.TypeID() {
			t.Fatalf("%v behind %v: %v", again, h, err)
		}
		erase(ctx, 9) // in a flush that does not come to shard 3
		flushInWrite(ctx, t, c.Store)
		expect("third flush", 5, 9)
		c.record(ctx, t, func(q store.Queue) { table.Erase(q, again) })
		flushInWrite(ctx, t, c.Store)
		expect("fourth flush", 3, 5, 9)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The figures are those of all shards, whatever came between two flushes.
func TestStatsCountEveryShard(t *testing.T) {
	c := newOfMost(t, store.TableOptions[item]{}, false)
	table := c.table.(packed[item]).Table
	live := func(when string, want int) {
		t.Helper()
		if got := c.Stats().Tables[0]; got.Live != want || got.Live != table.Len() || got.Slots != got.Live+got.Vacant {
			t.Errorf("%s: %+v, and %d items; want %d", when, got, table.Len(), want)
		}
	}
	live("filled", 63)
	table.Erase(queues(t, c.Store, 1)[0], c.names[1])
	flush(t, c.Store)
	live("erased", 62)
	err := c.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
		maps := store.Maps(table, w)
		c.record(ctx, t, func(q store.Queue) { table.Erase(q, c.names[2]) })
		flushInWrite(ctx, t, c.Store)
		live("in a Write", 61)
		maps[20].Clear()
		c.record(ctx, t, func(q store.Queue) { table.EmplaceItems(q, make([]item, 2), nil) })
		flushInWrite(ctx, t, c.Store)
		live("after a change through a map", 62)
		if maps[1].Len() != 1 || maps[2].Len() != 1 || maps[20].Len() != 0 {
			t.Errorf("shards of %d, %d and %d items", maps[1].Len(), maps[2].Len(), maps[20].Len())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	live("after the Write", 62)
}

func flushInWrite(ctx context.Context, t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := s.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// Shards that a burst went through give up what they keep for flushes, while others go on.
func TestMemoryOfShardsWithoutWorkIsGivenBack(t *testing.T) {
	if check.Full {
		t.Skip("a checked build keeps more")
	}
	c := newOfMost(t, store.TableOptions[item]{Changes: true}, false)
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
	if more := heap() - before; more > 32<<10 {
		t.Errorf("%d bytes more than before", more)
	}
}
