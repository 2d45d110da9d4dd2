package batch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/items"
)

var kinds = map[string]struct {
	bytes  int64
	record func(b *bench, q batch.Queue)
}{
	"creates": {16, func(b *bench, q batch.Queue) { b.Emplace(q, value{}) }},
	"puts":    {24, func(b *bench, q batch.Queue) { b.Put(q, name{ID: handle.New(7, 1, 0)}, value{}) }},
	"erases":  {8, func(b *bench, q batch.Queue) { b.Erase(q, name{ID: handle.New(7, 1, 0)}) }},
	"erases by row": {8, func(b *bench, q batch.Queue) {
		*q.Rows() = append(*q.Rows(), 0)
		b.EraseRows(q, 0)
	}},
	"unknown": {8, func(_ *bench, q batch.Queue) { q.Erase(handle.New(999, 1, 0)) }},
}

func TestLimits_QueueIsExact(t *testing.T) {
	const limit = 100
	for what, kind := range kinds {
		for _, limits := range []batch.Limits{{QueueCommands: limit}, {QueueBytes: limit * kind.bytes}} {
			for _, batches := range [][]int{{limit + 1}, {10 * limit}, {limit, limit, limit + 1, limit}} {
				b := newLimited(limits, 1)
				for _, n := range batches {
					p := b.Begin(1)
					for range n {
						kind.record(b, p.Queue(0))
					}
					if err := p.End(false); errors.Is(err, batch.ErrQueueFull) != (n > limit) {
						t.Errorf("%d of %d %s under %+v: %v", n, batches, what, limits, err)
					}
					b.Drop(nil)
				}
			}
		}
	}
}

func TestLimits_FlushedCommandsDoNotCount(t *testing.T) {
	const bytes = 8 + 16 + 8
	for _, limits := range []batch.Limits{{BatchCommands: 3}, {BatchBytes: bytes}} {
		b := newLimited(limits, 1)
		for round := range 20 {
			p := b.Begin(1)
			b.Erase(p.Queue(0), name{})
			_ = p.End(false)
			q, err := b.Enter()
			noError(t, err)
			b.Erase(q, b.Emplace(q, value{}))
			b.arrive(t, q)
			if got := b.Pending(); got != (batch.Load{Commands: 3, Bytes: bytes}) {
				t.Errorf("%+v wait for the flush", got)
			}
			b.commands() // the first flush fails
			if b.commands(); round%2 == 0 {
				b.Finish()
			} else {
				b.Drop(nil)
			}
			if b.Started() || b.Pending() != (batch.Load{}) || b.Admit() != nil {
				t.Errorf("a new batch has begun: %t, holds %+v: %v", b.Started(), b.Pending(), b.Admit())
			}
			waiting := b.enter(t)
			b.Erase(waiting, name{})
			b.arrive(t, waiting)
			if got := b.Pending(); got != (batch.Load{Commands: 1, Bytes: 8}) {
				t.Errorf("after %d batches %+v wait for the flush", round+1, got)
			}
			b.Drop(nil)
		}
	}
}

func TestQueue_FailedPanicsAfterItsBatch(t *testing.T) {
	b := newBench(1, 1)
	p := b.Begin(2)
	q, other := p.Queue(0), p.Queue(1)
	b.EmplaceItems(q, make([]value, 2), nil)
	if h := b.Emplace(q, value{}); !h.ID.IsZero() {
		t.Errorf("a queue that failed names a create %v", h)
	}
	_ = p.End(false)
	expectPanic(t, "past its pass", func() { b.Emplace(q, value{}) })
	b.Drop(nil)
	for _, kept := range []queue{q, other} {
		expectPanic(t, "past its flush", func() { b.Emplace(kept, value{}) })
		expectPanic(t, "past its flush", func() { b.Put(kept, name{}, value{}) })
		expectPanic(t, "past its flush", func() { kept.Erase(1) })
	}
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	if message := fmt.Sprint(panicOf(f)); !strings.Contains(message, want) {
		t.Errorf("the panic is %q, want one that says %q", message, want)
	}
}

// A late Set counts the bytes of its segment. Memory of earlier batches must not decide where
// the segment begins.
func TestLoad_DoesNotDependOnMemory(t *testing.T) {
	for creates := 1; creates < 1000; creates += creates/2 + 1 {
		b := newBench(1<<20, 1)
		var a batch.SetLog
		a.Init(&b.Recorder, items.For[uint64](), false, nil, nil)
		record := func(n int) batch.Load {
			q := b.Begin(1).Queue(0)
			h := b.Emplace(q, value{})
			b.Staged(q, h)
			for range n - 1 {
				h = b.Emplace(q, value{})
			}
			a.Set(q, h.ID)
			load := b.Pending()
			b.Drop(nil)
			return load
		}
		cold := record(creates)
		b.EmplaceItems(b.Begin(1).Queue(0), make([]value, 5000), nil)
		b.Drop(nil)
		if warm := record(creates); warm != cold {
			t.Errorf("%d creates and a Set: got load %v, want %v as in a new batch", creates, warm, cold)
		}
	}
}
