package batch_test

import (
	"errors"
	"testing"

	"handloom/batch"
	"handloom/shard/handle"

	"pgregory.net/rapid"
)

// Every command to a name of the batch is in exactly one counter (B1).
func TestCountsSumToTheCommands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(1<<20, 1)
		p := b.Begin(3)
		var names []name
		for _, do := range rapid.SliceOfN(rapid.IntRange(0, 8), 0, 60).Draw(t, "commands") {
			q := p.Queue(do % 3)
			switch {
			case do < 3 || len(names) == 0:
				names = append(names, b.Emplace(q, value{}))
			case do < 6:
				b.Erase(q, names[len(names)*do/9])
			default:
				b.Put(q, names[len(names)*do/9], value{})
			}
		}
		pending := b.Pending().Commands
		if counts := b.plan(b.commands()); counts.Commands() != pending {
			t.Fatalf("%+v count %d commands of %d", counts, counts.Commands(), pending)
		}
	})
}

func TestPendingCountsWhatIsRecordedAndNotWhatIsDropped(t *testing.T) {
	b := newBench(10, 1)
	expect := func(when string, want int) {
		t.Helper()
		if got := b.Pending().Commands; got != want {
			t.Errorf("%s %d commands are pending, want %d", when, got, want)
		}
	}
	expect("at first", 0)
	p := b.Begin(2)
	b.EmplaceItems(p.Queue(0), make([]value, 4), nil)
	p.Queue(1).Erase(handle.New(99, 1, 1))
	expect("in an open pass", 5)
	_ = p.End(false)
	expect("after it", 5)
	p = b.Begin(2)
	b.EmplaceItems(p.Queue(0), make([]value, 4), nil)
	_ = p.End(true)
	expect("after a pass that failed", 5)
	p = b.Begin(2)
	b.EmplaceItems(p.Queue(0), make([]value, 4), nil)
	b.EmplaceItems(p.Queue(1), make([]value, 11), nil)
	if err := b.Check(); !errors.Is(err, batch.ErrQueueFull) {
		t.Errorf("Check: %v", err)
	}
	if err := p.End(false); !errors.Is(err, batch.ErrQueueFull) {
		t.Errorf("End: %v", err)
	}
	expect("after a pass with a full queue", 5)
	if err := b.Check(); err != nil {
		t.Errorf("Check of what is left: %v", err)
	}
	b.Finish()
	expect("in a new batch", 0)
}

func TestSamplesSortByTypeKindKeyAndSequence(t *testing.T) {
	var samples []batch.Sample
	for i := range 64 {
		j := i * 37 % 64 // every combination, in another order
		samples = append(samples, batch.Sample{
			TypeID: uint16(j >> 5 & 1), Kind: batch.Kind(j >> 4 & 1), Pass: j >> 3 & 1, Task: j >> 1 & 3, Sequence: j & 1,
		})
	}
	got := batch.KeepLowest(samples)
	if len(got) != batch.MaxSamples {
		t.Fatalf("%d samples are kept", len(got))
	}
	for i, s := range got {
		if s != (batch.Sample{Task: i >> 1, Sequence: i & 1}) {
			t.Errorf("sample %d is %+v", i, s)
		}
	}
}
