package batch_test

import (
	"testing"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/items"
)

func TestQueue_CommandsDoNotComputeTheLoad(t *testing.T) {
	for _, c := range []struct{ tables, batches, limit int }{{2000, 3, 1 << 24}, {1, 500, 10_000}} {
		b := batch.New(batch.Limits{QueueCommands: c.limit})
		recorders := make([]batch.Recorder, c.tables)
		for i := range recorders {
			recorders[i].Init(b, uint16(1+i), 1, items.For[uint64]())
		}
		for round := range c.batches {
			p := b.Begin(1)
			q := p.Queue(0)
			other := q.Watch(c.tables)
			for i := range recorders {
				r, h := &recorders[i], handle.Of[uint64]{ID: handle.New(uint16(1+i), 1, 0)}
				batch.Emplace[uint64](r, q, 1)
				batch.PutItem(r, q, h, 2)
				r.Erase(q, h.ID)
				q.Erase(0xffff << 48)
				if other.AddedUp() {
					t.Fatalf("batch %d: commands to table %d of %d compute the load", round, i, c.tables)
				}
			}
			noError(t, p.End(false))
			if b.Pending(); !other.AddedUp() {
				t.Errorf("batch %d: Pending does not compute the load", round)
			}
			b.Drop(nil)
		}
	}
}
