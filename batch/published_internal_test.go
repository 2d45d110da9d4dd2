package batch

import (
	"maps"
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
	r.Pending.FixSurvivors()
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
	r.Reset()
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

// publishTasks has one flush of a pass of so many tasks, each of which creates two items,
// and returns the handles of the items by their provisional ones.
func publishTasks(b *Batch, r *Recorder, tasks int, first bool) map[handle.ID]handle.ID {
	names := make(map[handle.ID]handle.ID)
	p := b.Begin(tasks)
	var order []handle.ID
	for task := range tasks {
		for range 2 {
			order = append(order, Emplace(r, p.Queue(task), task).ID)
		}
	}
	b.Gather()
	r.Pending.FixSurvivors()
	next := uint32(0)
	r.Pending.Runs(0, len(order), func(_ items.Slice, created []handle.ID) {
		for i := range created {
			next++
			created[i] = handle.New(7, 1, next)
		}
	})
	for i, name := range order {
		names[name] = handle.New(7, 1, uint32(i+1))
	}
	r.Publish(first)
	b.Finish()
	return names
}

// TrimKeepHandles keeps every provisional handle of the frame, for any number of tasks and
// flushes, until the next flush; Rest keeps none.
func TestRestButNames_KeepsTheNamesOfAllTasks(t *testing.T) {
	b := New(Limits{})
	var r Recorder
	r.Init(b, 7, 1, items.For[int]())
	for tasks := 1; tasks <= 70; tasks += 1 + tasks/4 {
		names := make(map[handle.ID]handle.ID)
		for flush := range 3 {
			maps.Copy(names, publishTasks(b, &r, tasks, flush == 0))
		}
		for range 2 {
			r.TrimKeepHandles()
			for name, want := range names {
				if got, ok := r.Resolve(name); !ok || got != want {
					t.Errorf("%d tasks, after RestButNames: Resolve(%v) = %v, %t, want %v", tasks, name, got, ok, want)
				}
			}
		}
		publishTasks(b, &r, 1, true)
		for name := range names {
			if got, ok := r.Resolve(name); ok {
				t.Errorf("%d tasks, after the next frame: Resolve(%v) = %v", tasks, name, got)
			}
		}
	}
	last := publishTasks(b, &r, 20, true)
	r.Trim()
	for name := range last {
		if got, ok := r.Resolve(name); ok {
			t.Errorf("after Rest: Resolve(%v) = %v", name, got)
		}
	}
}
