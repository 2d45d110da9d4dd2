package batch

import (
	"testing"

	"handloom/internal/items"
)

// Once released, commands refer to no array of the queues: those go on to record
// and give memory back.
func TestReleasedCommandsReferToNoQueue(t *testing.T) {
	b := New(Limits{})
	var r Recorder
	r.Init(b, 7, 1, items.For[int]())
	c := r.Pending
	for _, queues := range []int{10, 3} {
		p := b.Begin(queues)
		for task := range queues {
			r.Erase(p.Queue(task), Emplace(&r, p.Queue(task), task).ID)
		}
		b.Gather()
		c.release()
		b.Finish()
		for _, col := range c.columns[:cap(c.columns)] {
			if col != nil {
				t.Errorf("after a batch of %d queues a column is left", queues)
			}
		}
		for _, erases := range c.erases[0][:cap(c.erases[0])] {
			if erases.IDs != nil {
				t.Errorf("after a batch of %d queues erases are left", queues)
			}
		}
		for _, s := range c.order[:cap(c.order)] {
			if s.values.Cap() > 0 {
				t.Errorf("after a batch of %d queues creates are left", queues)
			}
		}
	}
}

// Nor do the lists of a batch refer to passes and calls that are gone.
func TestABatchThatEndedRefersToNothingOfIt(t *testing.T) {
	b := New(Limits{})
	var r Recorder
	r.Init(b, 7, 1, items.For[int]())
	s := b.NewSequence()
	for range 10 {
		Emplace(&r, b.Begin(1).Queue(0), 1)
		_ = s.Begin(1).End(false)
		q, _ := b.Enter()
		Emplace(&r, q, 1)
		if err := b.AddCall(q, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.inbox.seal()
	left := func(what string, passes []*Pass) {
		for i, p := range passes[:cap(passes)] {
			if p != nil {
				t.Errorf("pass %d is left in %s", i, what)
			}
		}
	}
	buffers := func(what string, buffers []*buffer) {
		for i, buf := range buffers[:cap(buffers)] {
			if buf != nil {
				t.Errorf("call %d is left in what %s", i, what)
			}
		}
	}
	buffers("arrived", b.inbox.arrived)
	b.Finish()
	s.Drop()
	left("the batch", b.order)
	left("the sequence", s.passes)
	buffers("was sealed", b.inbox.sealed)
}
