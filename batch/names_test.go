package batch_test

import (
	"sync"
	"testing"

	"handloom/batch"
	"handloom/shard/handle"
)

func TestNamesAreUniqueWithinABatch(t *testing.T) {
	const tasks = 8
	b := newBench(1<<20, 2)
	var names [tasks][]name
	for pass := range 3 {
		p := b.Begin(tasks)
		var wg sync.WaitGroup
		for task := range tasks {
			wg.Go(func() {
				q := p.Queue(task)
				for i := range 500 * (task + pass) {
					names[task] = append(names[task], b.Emplace(q, value{N: uint64(i)}))
				}
				names[task] = b.EmplaceItems(q, make([]value, 300), names[task])
			})
		}
		wg.Wait()
		if err := p.End(pass == 1); err != nil { // names of a dropped pass are not given again
			t.Fatal(err)
		}
	}
	seen := map[handle.ID]bool{}
	for _, list := range names {
		for _, p := range list {
			if seen[p.ID] || !p.IsProvisional() || p.TypeID() != 7 {
				t.Fatalf("%v is given twice, or no provisional handle of the table", p)
			}
			seen[p.ID] = true
		}
	}
}

func TestANameIsKnownToItsOwnBatchAlone(t *testing.T) {
	b := newBench(100, 1)
	q := b.Begin(1).Queue(0)
	old := b.Emplace(q, value{})
	c := b.commands()
	b.plan(c)
	survivors(c, 0, 1)
	b.Finish(true)

	q = b.Begin(1).Queue(0)
	p := b.Emplace(q, value{})
	if old == p {
		t.Fatalf("two batches name a create %v", p)
	}
	if _, ok := b.Staged(q, old); ok {
		t.Error("a name of the batch before is staged")
	}
	next := b.commands()
	var counts batch.Counts
	if next.Cancel(old.ID, &counts) || next.Replace(old.ID, value{}, &counts) || counts != (batch.Counts{Stale: 2}) {
		t.Errorf("%+v, want 2 stale", counts)
	}
	if _, ok := next.Resolve(old.ID); ok {
		t.Error("a name of the batch before resolves")
	}
	if h, ok := c.Resolve(old.ID); !ok || h != real(0) {
		t.Errorf("in its own batch it resolves to %v, %t", h, ok)
	}
}

func TestNamesThatWereMadeUpAreStale(t *testing.T) {
	b := newBench(100, 3)
	q := b.Begin(1).Queue(0)
	p := b.Emplace(q, value{})
	c := b.commands()
	for what, id := range map[string]handle.ID{
		"the next offset":   p.ID + 1,
		"the next segment":  p.ID + segmentItems,
		"the last segment":  p.ID | 1<<32 - 1,
		"another typeId":    p.ID + 1<<48,
		"another batch":     p.ID + 1<<32,
		"not provisional":   p.ID &^ handle.FreeBit,
		"the free bit only": handle.FreeBit,
	} {
		var counts batch.Counts
		if c.Cancel(id, &counts) || c.Replace(id, value{}, &counts) || counts != (batch.Counts{Stale: 2}) {
			t.Errorf("%s: %+v, want 2 stale", what, counts)
		}
		if _, ok := c.Resolve(id); ok {
			t.Errorf("%s resolves", what)
		}
	}
	if b.plan(c); c.Creates() != 1 {
		t.Errorf("%d creates are left of 1", c.Creates())
	}
}

// The batch number has 16 bits. A name that is about to resolve must not look
// like one of the batch that is being recorded.
func TestBatchNumbersThatComeAroundSpareTheNamesThatResolve(t *testing.T) {
	b := newBench(100, 1)
	p := b.Emplace(b.Begin(1).Queue(0), value{})
	b.Finish(true)
	for range 1<<16 + 5 {
		if q := b.Begin(1).Queue(0); b.Emplace(q, value{}).Generation() == p.Generation() {
			t.Fatalf("a batch has the number of the one whose names resolve")
		}
		b.Finish(false)
	}
}
