package batch

import (
	"testing"

	"handloom/handle"
	"handloom/internal/items"
)

func publish(b *Batch, r *Recorder, tasks int, first bool, names map[handle.ID]handle.ID) {
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
			created[i] = handle.New(7, 1, next)
			next++
		}
	})
	for i, name := range order {
		names[name] = handle.New(7, 1, uint32(i))
	}
	r.Publish(first)
	b.Finish()
}

func expectResolves(t *testing.T, r *Recorder, when string, names map[handle.ID]handle.ID, known bool) {
	t.Helper()
	for name, want := range names {
		if got, ok := r.Resolve(name); ok != known || known && got != want {
			t.Errorf("%s: Resolve(%v) = %v, %t, want %v, %t", when, name, got, ok, want, known)
		}
	}
}

// Another Trim or a Reset drops the handles.
func TestResolve_KnowsTheFlushesOfTheFrame(t *testing.T) {
	for name, drop := range map[string]func(r *Recorder){"Trim": func(r *Recorder) { r.Trim(false) }, "Reset": (*Recorder).Reset} {
		t.Run(name, func(t *testing.T) {
			b, r := newInternal()
			var last map[handle.ID]handle.ID
			for tasks := 1; tasks <= 70; tasks += 1 + tasks/4 {
				names := make(map[handle.ID]handle.ID)
				flushes := 1 + tasks%6
				for flush := range flushes {
					publish(b, r, tasks, flush == 0, names)
					expectResolves(t, r, "after a flush", names, true)
				}
				expectResolves(t, r, "in the next frame", last, false)
				if n := len(r.Published()); n != flushes {
					t.Errorf("%d flushes are published, want %d", n, flushes)
				}
				for range 2 {
					r.Trim(true)
					expectResolves(t, r, "after Trim that keeps them", names, true)
				}
				last = names
			}
			drop(r)
			expectResolves(t, r, "after "+name, last, false)
		})
	}
}

func TestPublish_LongFrameIsTrimmed(t *testing.T) {
	b, r := newInternal()
	for flush := range 5200 {
		publish(b, r, 1, flush == 0 || flush >= 5000, map[handle.ID]handle.ID{})
	}
	if n := len(r.published.spare); n > 2*fewFlushes {
		t.Errorf("commands of %d flushes are kept for frames of one", n)
	}
}
