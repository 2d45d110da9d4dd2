package batch_test

import (
	"testing"

	"handloom/batch"
	"handloom/handle"
)

func TestPending_CountsOnlyKeptCommands(t *testing.T) {
	b := newBench(10, 1)
	expect := func(when string, want int) {
		t.Helper()
		if got := b.Pending().Commands; got != want {
			t.Errorf("%s: %d commands, want %d", when, got, want)
		}
	}
	begin := func() *batch.Pass {
		p := b.Begin(2)
		b.EmplaceItems(p.Queue(0), make([]value, 4), nil)
		return p
	}
	expect("empty", 0)
	p := begin()
	p.Queue(1).Erase(handle.New(99, 1, 1))
	expect("open pass", 5)
	_ = p.End(false)
	expect("ended pass", 5)
	_ = begin().End(true)
	expect("failed pass", 5)
	p = begin()
	b.EmplaceItems(p.Queue(1), make([]value, 11), nil)
	wantError(t, b.Check(), batch.ErrQueueFull)
	wantError(t, p.End(false), batch.ErrQueueFull)
	expect("full queue", 5)
	noError(t, b.Check())
	b.Finish()
	expect("next batch", 0)
}

func TestKeepLowest_SortOrder(t *testing.T) {
	var samples []batch.Sample
	for i := range 64 {
		j := i * 37 % 64 // all combinations, shuffled
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
