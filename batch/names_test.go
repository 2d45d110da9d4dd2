package batch_test

import (
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
)

func TestResolve_ForgedNamesAreStale(t *testing.T) {
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
		"17 billion ahead":  p.ID ^ 1<<47,
		"not provisional":   p.ID &^ handle.FreeBit,
		"the free bit only": handle.FreeBit,
	} {
		t.Run(what, func(t *testing.T) { expectStale(t, c, name{ID: id}) })
	}
	if b.plan(c); c.Survivors() != 1 {
		t.Errorf("%d creates are left of 1", c.Survivors())
	}
}

func TestResolve_NamesStayStale(t *testing.T) {
	alone(t)
	const batches = 1<<16 + 5
	for what, end := range map[string]func(b *bench){
		"flushed": func(b *bench) { b.Finish() },
		"dropped": func(b *bench) { b.Drop(nil) },
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(100, 1)
			old := b.Emplace(b.Begin(1).Queue(0), value{})
			end(b)
			for batch := range batches {
				q := b.Begin(1).Queue(0)
				p := b.Emplace(q, value{})
				if _, ok := b.Staged(q, old); ok || p == old {
					t.Fatalf("%d batches later the name %v is given again", batch+1, old)
				}
				c := b.commands()
				expectStale(t, c, old)
				if _, ok := c.Resolve(p.ID); !ok {
					t.Fatalf("%d batches later a name of the batch itself is unknown", batch+1)
				}
				end(b)
			}
		})
	}
}

func expectStale(t *testing.T, c *batch.Commands, p name) {
	t.Helper()
	var counts batch.Counts
	if c.Cancel(p.ID, &counts) || c.Replace(p.ID, unsafe.Pointer(new(value)), &counts) || counts != (batch.Counts{Stale: 2}) {
		t.Fatalf("commands to %v of another batch: %+v, want 2 stale", p, counts)
	}
	if h, ok := c.Resolve(p.ID); ok {
		t.Fatalf("%v of another batch resolves to %v", p, h)
	}
}

const allSegments = 1 << 34

func TestSegments_WrapWithinABatch(t *testing.T) {
	const queues, each = 3, segmentItems + 1 // two segments each
	for before := range uint64(2*queues + 2) {
		b := newBench(1<<20, 1)
		b.SkipSegments(allSegments - before)
		p := b.Begin(queues)
		var names []name
		seen := map[name]bool{}
		for task := range queues {
			names = b.EmplaceItems(p.Queue(task), make([]value, each), names)
		}
		for i, h := range names {
			if seen[h] || !h.ID.IsProvisional() || h.ID.TypeID() != 7 {
				t.Fatalf("%d segments before the end: %v is given twice, or no provisional handle of the table", before, h)
			}
			seen[h] = true
			v, ok := b.Staged(p.Queue(i/each), h)
			if !ok {
				t.Fatalf("%d segments before the end: create %d is not staged", before, i)
			}
			v.N = uint64(i)
		}
		c := b.commands()
		b.plan(c)
		expectRange(t, survivors(c, 0, len(names)), 0, len(names))
		for i, h := range names {
			if got, ok := c.Resolve(h.ID); !ok || got != real(i).ID {
				t.Fatalf("%d segments before the end: create %d resolves to %v, %t", before, i, got, ok)
			}
		}
		b.Finish()
		b.Emplace(b.Begin(1).Queue(0), value{})
		next := b.commands()
		for _, at := range []int{0, segmentItems, each, len(names) - 1} {
			expectStale(t, next, names[at])
		}
	}
}

func TestSegments_RepeatAfterSeventeenBillion(t *testing.T) {
	b := newBench(100, 1)
	first := b.Emplace(b.Begin(1).Queue(0), value{})
	b.Drop(nil)
	p := b.Begin(3)
	for task, skip := range []uint64{allSegments/2 - 1, allSegments/2 - 2, 0} {
		b.SkipSegments(skip)
		if h := b.Emplace(p.Queue(task), value{}); (h == first) != (task == 2) {
			t.Errorf("name %d = %v, the first name is %v", task, h, first)
		}
	}
}

func TestCreateIndex_SizeDependsOnSegmentsOnly(t *testing.T) {
	b := newBench(1<<20, 1)
	long := b.enter(t)
	names := []name{b.Emplace(long, value{})}
	for range 1000 {
		q := b.enter(t)
		b.Emplace(q, value{})
		b.Leave(q)
	}
	for round := range 3 {
		b.SkipSegments(allSegments / 4)
		const queues = 10
		p := b.Begin(queues)
		for task := range queues {
			names = append(names, b.Emplace(p.Queue(task), value{}))
		}
		noError(t, p.End(round == 0))
	}
	b.arrive(t, long)
	c := b.commands()
	if b.plan(c); c.Survivors() != 21 {
		t.Errorf("%d creates", c.Survivors())
	}
	if n := c.Places(); n > 4*21 {
		t.Errorf("%d places for 21 segments", n)
	}
	for i, h := range names {
		if _, ok := c.Resolve(h.ID); ok == (i > 0 && i <= 10) {
			t.Errorf("name %d, of the pass that failed or not: known: %t", i, ok)
		}
	}
}
