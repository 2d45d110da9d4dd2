package batch_test

import (
	"errors"
	"testing"

	"handloom/batch"
	"handloom/shard/handle"
)

// The limit of a queue is exact also where its commands go into memory that
// earlier batches left, and no array grows.
func TestALimitIsKeptInMemoryThatIsUsedAgain(t *testing.T) {
	const limit = 100
	for kind, record := range map[string]func(b *bench, q batch.Queue){
		"creates": func(b *bench, q batch.Queue) { b.Emplace(q, value{}) },
		"puts":    func(b *bench, q batch.Queue) { b.Put(q, name{ID: handle.New(7, 1, 0)}, value{}) },
		"erases":  func(b *bench, q batch.Queue) { b.Erase(q, name{ID: handle.New(7, 1, 0)}) },
		"strays":  func(_ *bench, q batch.Queue) { q.Erase(handle.New(999, 1, 0)) },
	} {
		b := newBench(limit, 1)
		for _, n := range []int{limit, limit, limit + 1, limit} {
			p := b.Begin(1)
			q := p.Queue(0)
			for range n {
				record(b, q)
			}
			if err := p.End(false); errors.Is(err, batch.ErrQueueFull) != (n > limit) {
				t.Errorf("%d %s with a limit of %d: %v", n, kind, limit, err)
			}
			b.Drop()
		}
	}
}

// A flush, failed or not, and a Drop leave of calls of the inbox exactly what
// still waits, in commands and in bytes.
func TestWhatAFlushAppliedCountsForTheBatchNoMore(t *testing.T) {
	const bytes = 16 + 8
	for what, limits := range map[string]batch.Limits{
		"commands": {BatchCommands: 3},
		"bytes":    {BatchBytes: 2*bytes - 8},
	} {
		b := &bench{Batch: batch.New(limits)}
		b.Init(b.Batch, 0, 7, 1, false)
		for round := range 20 {
			q, err := b.Enter()
			if err != nil {
				t.Fatalf("limit of %s, after %d batches: %v", what, round, err)
			}
			b.Erase(q, b.Emplace(q, value{}))
			b.arrive(t, q)
			if got := b.Pending(); got != (batch.Load{Commands: 2, Bytes: bytes}) {
				t.Errorf("%+v wait for the flush", got)
			}
			b.commands() // the flush fails, the first time
			if b.commands(); round%2 == 0 {
				b.Finish()
			} else {
				b.Drop()
			}
			waiting := b.enter(t) // so that what waits is looked at
			b.Erase(waiting, name{})
			b.arrive(t, waiting)
			if got := b.Pending(); got != (batch.Load{Commands: 1, Bytes: 8}) {
				t.Errorf("after %d batches %+v wait for the flush", round+1, got)
			}
			b.Drop()
		}
	}
}
