package batch_test

import (
	"testing"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// What a queue holds of other tables must not matter to a command: a queue that
// has room by far does not add up what it holds, however many tables take part.
func TestACommandCostsTheSameBesideManyTables(t *testing.T) {
	const tables = 2000
	b := batch.New(batch.Limits{QueueCommands: 1 << 24})
	recorders := make([]batch.Recorder, tables)
	for i := range recorders {
		recorders[i].Init(b, uint16(1+i), 1, items.For[uint64]())
	}
	for round := range 3 { // in new memory, and in memory that is used again
		p := b.Begin(1)
		q := p.Queue(0)
		other := q.Watch(tables)
		for i := range recorders {
			r, h := &recorders[i], handle.Of[uint64]{ID: handle.New(uint16(1+i), 1, 0)}
			batch.Emplace[uint64](r, q, 1)
			batch.PutItem(r, q, h, 2)
			r.Erase(q, h.ID)
			if other.AddedUp() {
				t.Fatalf("batch %d: commands to table %d look at another one", round, i)
			}
		}
		noError(t, p.End(false))
		if b.Pending(); !other.AddedUp() {
			t.Errorf("batch %d: nothing is added up when somebody asks; the test sees nothing", round)
		}
		b.Drop(nil)
	}
}

// Nor does what its batches before held.
func TestACommandCostsTheSameAfterManyBatches(t *testing.T) {
	b := newBench(10_000, 1)
	for batch := range 500 {
		q := b.Begin(1).Queue(0)
		other := q.Watch(1)
		b.Emplace(q, value{})
		b.Put(q, someItem, value{})
		b.Erase(q, someItem)
		q.Erase(1)
		if other.AddedUp() {
			t.Fatalf("batch %d: its commands look at what the queue holds", batch)
		}
		b.Drop(nil)
	}
}
