package batch_test

import (
	"testing"

	"handloom/batch"
	"handloom/shard/handle"
)

// What a queue holds of other tables must not matter to a command: a queue that
// has room by far does not add up what it holds, however many tables take part.
func TestACommandCostsTheSameBesideManyTables(t *testing.T) {
	const tables = 2000
	b := batch.New(batch.Limits{QueueCommands: 1 << 24})
	recorders := make([]batch.Recorder[uint64], tables)
	for i := range recorders {
		recorders[i].Init(b, i, uint16(1+i), 1, false)
	}
	for round := range 3 { // in new memory, and in memory that is used again
		var seen witness
		p := b.Begin(1)
		q := p.Queue(0)
		q.Watch(&seen, tables)
		for i := range recorders {
			h := handle.Of[uint64]{ID: handle.New(uint16(1+i), 1, 0)}
			recorders[i].Emplace(q, 1)
			recorders[i].Put(q, h, 2)
			recorders[i].Erase(q, h)
		}
		if seen.Visits > 0 {
			t.Errorf("batch %d: commands to %d tables look %d times at another one", round, tables, seen.Visits)
		}
		if err := p.End(false); err != nil {
			t.Fatal(err)
		}
		if seen.Visits == 0 || seen.Visits > 5 {
			t.Errorf("batch %d: the end of its pass looks %d times at a table", round, seen.Visits)
		}
		b.Drop()
	}
}

type witness = batch.Witness

// Nor does what its batches before held.
func TestACommandCostsTheSameAfterManyBatches(t *testing.T) {
	b := newBench(10_000, 1)
	for batch := range 500 {
		var seen witness
		q := b.Begin(1).Queue(0)
		q.Watch(&seen, 1)
		b.Emplace(q, value{})
		b.Put(q, someItem, value{})
		b.Erase(q, someItem)
		q.Erase(1)
		if seen.Visits > 0 {
			t.Fatalf("batch %d: its commands look %d times at what the queue holds", batch, seen.Visits)
		}
		b.Drop()
	}
}
