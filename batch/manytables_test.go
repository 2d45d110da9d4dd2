package batch_test

import (
	"slices"
	"testing"
	"time"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/shard/handle"
)

// recordInto records three commands for each of n tables in one queue, batch
// after batch, and returns how long a batch takes.
func recordInto(n int) time.Duration {
	b := batch.New(batch.Limits{QueueCommands: 1 << 24})
	tables := make([]batch.Recorder[uint64], n)
	for i := range tables {
		tables[i].Init(b, i, uint16(1+i), 1, false)
	}
	var times []time.Duration
	for range 15 {
		begun := time.Now()
		p := b.Begin(1)
		q := p.Queue(0)
		for i := range tables {
			h := handle.Of[uint64]{ID: handle.New(uint16(1+i), 1, 0)}
			tables[i].Emplace(q, 1)
			tables[i].Put(q, h, 2)
			tables[i].Erase(q, h)
		}
		_ = p.End(false)
		times = append(times, time.Since(begun))
		b.Drop()
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// What a queue holds of other tables must not matter to a command. If it did, a
// batch for forty times as many tables would take a thousand times as long.
func TestACommandCostsTheSameBesideManyTables(t *testing.T) {
	if check.Cheap {
		t.Skip("checks take the time")
	}
	few, many := recordInto(50), recordInto(2000)
	if factor := many / max(few, 1); factor > 250 {
		t.Errorf("2,000 tables take %v, %d times as long as 50 with %v", many, factor, few)
	}
}
