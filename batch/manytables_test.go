package batch_test

import (
	"testing"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// A queue far below its limit does not compute its load, for any number of tables.
func TestQueue_CostDoesNotDependOnTables(t *testing.T) {
	const tables = 2000
	b := batch.New(batch.Limits{QueueCommands: 1 << 24})
	recorders := make([]batch.Recorder, tables)
	for i := range recorders {
		recorders[i].Init(b, uint16(1+i), 1, items.For[uint64]())
	}
	for round := range 3 { // in new memory, then in reused memory
		p := b.Begin(1)
		q := p.Queue(0)
		other := q.Watch(tables)
		for i := range recorders {
			r, h := &recorders[i], handle.Of[uint64]{ID: handle.New(uint16(1+i), 1, 0)}
			batch.Emplace[uint64](r, q, 1)
			batch.PutItem(r, q, h, 2)
			r.Erase(q, h.ID)
			if other.AddedUp() {
				t.Fatalf("batch %d: commands to table %d compute the load", round, i)
			}
		}
		noError(t, p.End(false))
		if b.Pending(); !other.AddedUp() {
			t.Errorf("batch %d: Pending does not compute the load", round)
		}
		b.Drop(nil)
	}
}

// Neither for any number of batches.
func TestQueue_CostDoesNotDependOnBatches(t *testing.T) {
	b := newBench(10_000, 1)
	for batch := range 500 {
		q := b.Begin(1).Queue(0)
		other := q.Watch(1)
		b.Emplace(q, value{})
		b.Put(q, someItem, value{})
		b.Erase(q, someItem)
		q.Erase(1)
		if other.AddedUp() {
			t.Fatalf("batch %d: commands compute the load", batch)
		}
		b.Drop(nil)
	}
}
