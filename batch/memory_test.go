package batch_test

import (
	"runtime"
	"slices"
	"testing"
	"weak"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
)

type big struct{ data *[1 << 16]byte }

// made records the memory of big values.
type made []weak.Pointer[[1 << 16]byte]

func (m *made) big() big {
	v := big{new([1 << 16]byte)}
	*m = append(*m, weak.Make(v.data))
	return v
}

func (m made) expectGone(t *testing.T, n int) {
	t.Helper()
	reachable := func(p weak.Pointer[[1 << 16]byte]) bool { return p.Value() != nil }
	if len(m) != n || !check.Collected(func() bool { return !slices.ContainsFunc(m, reachable) }) {
		t.Errorf("value %d of %d is reachable, want none of %d", slices.IndexFunc(m, reachable), len(m), n)
	}
}

// The holder of a staged value continues after its queue has failed, and its writes are dropped.
func TestQueue_FailedKeepsNothingAlive(t *testing.T) {
	var r batch.Recorder
	b := batch.New(batch.Limits{QueueCommands: 10})
	r.Init(b, 1, 1, items.For[big]())
	var m made
	func() {
		p := b.Begin(1)
		q := p.Queue(0)
		r.EmplaceItems(q, items.From(make([]big, 5)), nil)
		v := (*big)(r.Staged(q, batch.Emplace(&r, q, m.big()).ID))
		if h := r.EmplaceItems(q, items.From(make([]big, 10)), nil); len(h) != 10 || h[0] != 0 {
			t.Error("the queue has not failed")
		}
		*v = m.big()
		wantError(t, p.End(false), batch.ErrQueueFull)
		b.Drop(nil)
		batch.Emplace(&r, b.Begin(1).Queue(0), big{})
		b.Drop(nil)
	}()
	m.expectGone(t, 2)
	runtime.KeepAlive(b)
}

func TestFinish_KeepsNothingAlive(t *testing.T) {
	b, r := newTable[big](1)
	var m made
	func() {
		q := b.Begin(1).Queue(0)
		r.Emplace(q, m.big())
		r.Put(q, handle.Of[big]{}, m.big())
		r.Erase(q, r.Emplace(q, m.big()))
	}()
	b.Finish()
	m.expectGone(t, 3)
	runtime.KeepAlive(b)
}
