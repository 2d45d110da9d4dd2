package store_test

import (
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

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
