package record

import (
	"testing"

	"handloom/internal/items"
	"handloom/shard/handle"
)

// publish has one flush of so many creates, all of which get the handle real, and
// returns the name of the first.
func publish(b *Batch, r *Recorder, creates int, real handle.ID, first bool) (name handle.ID) {
	p := b.Begin(1)
	for i := range creates {
		if h := Emplace(r, p.Queue(0), i).ID; i == 0 {
			name = h
		}
	}
	b.Gather()
	r.Pending.Settle()
	r.Pending.Runs(0, creates, func(_ items.Slice, created []handle.ID) {
		for i := range created {
			created[i] = real
		}
	})
	r.Publish(first)
	b.Finish()
	return name
}

func TestProvisionalHandlesOfAllFlushesOfAFrameResolve(t *testing.T) {
	b := New(Limits{})
	var r Recorder
	r.Init(b, 7, 1, items.For[int]())
	var last []handle.ID
	for frame := range 4 {
		for _, name := range last {
			if h, ok := r.Resolve(name); !ok {
				t.Errorf("frame %d: %v of the frame before resolves to %v, %t, until something is flushed", frame, name, h, ok)
			}
		}
		var names []handle.ID
		for flush := range 6 - frame {
			names = append(names, publish(b, &r, 1+flush, handle.New(7, 1, uint32(flush)), flush == 0))
			for i, name := range names {
				if h, ok := r.Resolve(name); !ok || h != handle.New(7, 1, uint32(i)) {
					t.Errorf("frame %d, behind flush %d: %v resolves to %v, %t", frame, flush, name, h, ok)
				}
			}
		}
		if n := len(r.Published()); n != len(names) {
			t.Errorf("%d flushes are published, want %d", n, len(names))
		}
		for _, name := range last {
			if h, ok := r.Resolve(name); ok {
				t.Errorf("frame %d: %v of the frame before resolves to %v", frame, name, h)
			}
		}
		last = names
	}
	r.Forget()
	for _, name := range last {
		if h, ok := r.Resolve(name); ok {
			t.Errorf("forgotten, %v resolves to %v", name, h)
		}
	}
}

// A frame of very many flushes leaves no more behind than those that follow need.
func TestALongFrameLeavesLittleBehind(t *testing.T) {
	b := New(Limits{})
	var r Recorder
	r.Init(b, 7, 1, items.For[int]())
	for flush := range 5000 {
		publish(b, &r, 1, handle.New(7, 1, 1), flush == 0)
	}
	for range 200 {
		publish(b, &r, 1, handle.New(7, 1, 1), true)
	}
	if n := len(r.published.spare); n > 2*fewFlushes {
		t.Errorf("commands of %d flushes are kept for frames of one", n)
	}
}
