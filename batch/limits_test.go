package batch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"handloom/batch"
	"handloom/shard/handle"
)

// kinds are the ways to record a command, and how many bytes it counts.
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
	"unrouted": {8, func(_ *bench, q batch.Queue) { q.Erase(handle.New(999, 1, 0)) }},
}

// The limit of a queue is exact, in commands and in bytes: in new memory, and
// where commands go into memory that earlier batches left and no array grows.
func TestTheLimitOfAQueueIsExact(t *testing.T) {
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

// A flush, failed or not, and a Drop leave of calls of the inbox exactly what
// still waits, in commands and in bytes.
func TestWhatAFlushAppliedCountsForTheBatchNoMore(t *testing.T) {
	const bytes = 8 + 16 + 8
	for what, limits := range map[string]batch.Limits{
		"commands": {BatchCommands: 3},
		"bytes":    {BatchBytes: bytes},
	} {
		b := newLimited(limits, 1)
		for round := range 20 {
			p := b.Begin(1)
			b.Erase(p.Queue(0), name{})
			_ = p.End(false)
			q, err := b.Enter()
			if err != nil {
				t.Fatalf("limit of %s, after %d batches: %v", what, round, err)
			}
			b.Erase(q, b.Emplace(q, value{}))
			b.arrive(t, q)
			if got := b.Pending(); got != (batch.Load{Commands: 3, Bytes: bytes}) {
				t.Errorf("%+v wait for the flush", got)
			}
			b.commands() // the flush fails, the first time
			if b.commands(); round%2 == 0 {
				b.Finish()
			} else {
				b.Drop(nil)
			}
			if b.Started() || b.Pending() != (batch.Load{}) || b.Admit() != nil {
				t.Errorf("a new batch has begun: %t, holds %+v: %v", b.Started(), b.Pending(), b.Admit())
			}
			waiting := b.enter(t) // so that what waits is looked at
			b.Erase(waiting, name{})
			b.arrive(t, waiting)
			if got := b.Pending(); got != (batch.Load{Commands: 1, Bytes: 8}) {
				t.Errorf("after %d batches %+v wait for the flush", round+1, got)
			}
			b.Drop(nil)
		}
	}
}

// A queue that failed ignores what follows until its batch ends. From then on
// it panics, as every queue that is kept.
func TestAQueueThatFailedPanicsOnceItsBatchHasEnded(t *testing.T) {
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
