package batch_test

import (
	"runtime"
	"testing"
	"weak"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

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
