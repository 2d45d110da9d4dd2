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
