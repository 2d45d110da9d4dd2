package batch_test

import (
	"runtime"
	"testing"
	"weak"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Memory is kept by key: what a task recorded once it records again without
// allocating, even when another worker runs it.
func TestQueuesReuseTheMemoryOfTheirKey(t *testing.T) {
	b := newBench(1<<20, 2)
	names := make([]name, 0, 2*segmentItems)
	items := make([]value, segmentItems/2)
	record := func() {
		for range 2 {
			p := b.Begin(3)
			for task := range 3 {
				q := p.Queue(task)
				names = names[:0]
				for i := range 1000 * task {
					names = append(names, b.Emplace(q, value{N: uint64(i)}))
				}
				names = b.EmplaceItems(q, items, names)
				for i, h := range names {
					if i%3 == 0 {
						b.Put(q, h, value{})
					}
				}
				b.EraseItems(q, names[:task])
				q.Erase(handle.New(9, 1, 1))
			}
			if err := p.End(false); err != nil {
				t.Fatal(err)
			}
		}
		b.Finish()
	}
	record()
	if n := testing.AllocsPerRun(20, record); n > 0 {
		t.Errorf("a batch like the one before allocates %v objects", n)
	}
}

// So is memory that did not move because pointers into it were given out.
func TestQueuesReuseTheMemoryOfStagedValues(t *testing.T) {
	b := newBench(1<<20, 1)
	record := func() {
		q := b.Begin(1).Queue(0)
		for range 2*segmentItems + 100 {
			b.EmplaceFunc(q, func(_ name, v *value) { v.N = 1 })
		}
		b.Finish()
	}
	record()
	if n := testing.AllocsPerRun(20, record); n > 0 {
		t.Errorf("a batch like the one before allocates %v objects", n)
	}
}

// A function that EmplaceFunc calls goes on when its queue has failed. What it
// writes then is nowhere.
func TestAFailedQueueHoldsNothingAlive(t *testing.T) {
	type big struct{ data *[1 << 16]byte }
	var r batch.Recorder
	b := batch.New(batch.Limits{QueueCommands: 10})
	r.Init(b, 1, 1, items.For[big]())
	var before, after weak.Pointer[[1 << 16]byte]
	func() {
		p := b.Begin(1)
		q := p.Queue(0)
		r.EmplaceItems(q, items.From(make([]big, 5)), nil)
		batch.EmplaceFunc(&r, q, func(_ handle.Of[big], v *big) {
			v.data = new([1 << 16]byte)
			before = weak.Make(v.data)
			if h := r.EmplaceItems(q, items.From(make([]big, 10)), nil); len(h) > 0 {
				t.Error("the queue has not failed")
			}
			v.data = new([1 << 16]byte)
			after = weak.Make(v.data)
		})
		if err := p.End(false); err == nil {
			t.Error("the pass has not failed")
		}
		b.Drop(nil)
		batch.Emplace(&r, b.Begin(1).Queue(0), big{})
		b.Drop(nil)
	}()
	runtime.GC()
	if before.Value() != nil || after.Value() != nil {
		t.Error("what was written to a queue that failed is still reachable")
	}
	runtime.KeepAlive(b)
}

func TestAnEmptiedBatchHoldsNothingAlive(t *testing.T) {
	type big struct{ data *[1 << 16]byte }
	var r batch.Recorder
	b := batch.New(batch.Limits{})
	r.Init(b, 1, 1, items.For[big]())
	var created, put, cancelled weak.Pointer[[1 << 16]byte]
	func() {
		q := b.Begin(1).Queue(0)
		a, c, d := new([1 << 16]byte), new([1 << 16]byte), new([1 << 16]byte)
		created, put, cancelled = weak.Make(a), weak.Make(c), weak.Make(d)
		batch.Emplace(&r, q, big{a})
		batch.PutItem(&r, q, handle.Of[big]{}, big{c})
		r.Erase(q, batch.Emplace(&r, q, big{d}).ID)
	}()
	b.Finish()
	runtime.GC()
	if created.Value() != nil || put.Value() != nil || cancelled.Value() != nil {
		t.Error("the payload of a batch that ended is still reachable")
	}
	runtime.KeepAlive(b)
}
