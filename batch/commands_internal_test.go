package batch

import (
	"slices"
	"testing"

	"handloom/internal/items"
)

func newInternal() (*Batch, *Recorder) {
	b, r := New(Limits{}), new(Recorder)
	r.Init(b, 7, 1, items.For[int]())
	return b, r
}

func TestCommands_ReleaseDropsQueues(t *testing.T) {
	b, r := newInternal()
	c := r.Pending
	for _, queues := range []int{10, 3} {
		p := b.Begin(queues)
		for task := range queues {
			r.Erase(p.Queue(task), Emplace(r, p.Queue(task), task).ID)
		}
		b.Gather()
		c.release()
		b.Finish()
		expectNil(t, "tables", c.tables)
		for _, e := range c.erasing[:cap(c.erasing)] {
			if e.buffer != nil {
				t.Errorf("after %d queues, erases are left", queues)
			}
		}
		for _, s := range c.order[:cap(c.order)] {
			if s.values.Cap() > 0 {
				t.Errorf("after %d queues, creates are left", queues)
			}
		}
	}
}

// expectNil also checks elements past the length.
func expectNil[T any](t *testing.T, name string, all []*T) {
	t.Helper()
	if i := slices.IndexFunc(all[:cap(all)], func(v *T) bool { return v != nil }); i >= 0 {
		t.Errorf("%s[%d] is left", name, i)
	}
}

func TestFinish_DropsPassesAndCalls(t *testing.T) {
	b, r := newInternal()
	s := b.NewSequence()
	for range 10 {
		Emplace(r, b.Begin(1).Queue(0), 1)
		_ = s.Begin(1).End(false)
		q, _ := b.Enter()
		Emplace(r, q, 1)
		if err := b.AddCall(q, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.inbox.seal()
	expectNil(t, "arrived", b.inbox.arrived)
	b.Finish()
	s.Drop()
	expectNil(t, "batch", b.order)
	expectNil(t, "sequence", s.passes)
	expectNil(t, "sealed", b.inbox.sealed)
}
