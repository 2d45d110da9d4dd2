package batch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
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

func TestCommandsAreTheFirstEightCounters(t *testing.T) {
	c := batch.Counts{
		Created: 1, Erased: 2, Put: 4, Superseded: 8, Dropped: 16, Redundant: 32, Stale: 64, CancelledOut: 128,
		Dangling: 256, Depleted: 512,
	}
	sum := c
	sum.Add(c)
	if c.Commands() != 255 || sum.Commands() != 510 || sum.Dangling != 512 || sum.Depleted != 1024 {
		t.Errorf("%d commands, twice that is %+v", c.Commands(), sum)
	}
}

func TestASampleSaysWhatWasRecordedAndWhere(t *testing.T) {
	s := batch.Sample{Handle: handle.New(7, 3, 42), TypeID: 7, Task: 2, Sequence: 5}
	if got, want := fmt.Sprint(s), "erase of 7:42.3 by task 2 in pass 0 (typeId 7, sequence 5)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Kind, s.Pass = batch.Put, batch.InboxPass
	if got, want := fmt.Sprint(s), "put of 7:42.3 by call 2 of the inbox (typeId 7, sequence 5)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
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

// Every counter has one name: what String shows, what log/slog gets and what
// JSON has.
func TestEveryCounterHasItsNameInTextLogAndJSON(t *testing.T) {
	names := []string{
		"created", "erased", "put", "superseded", "dropped", "redundant", "stale", "cancelled_out", "dangling", "depleted",
	}
	if n := reflect.TypeFor[batch.Counts]().NumField(); n != len(names) {
		t.Fatalf("%d counters, but %d names here", n, len(names))
	}
	for i, name := range names {
		var c batch.Counts
		reflect.ValueOf(&c).Elem().Field(i).SetInt(int64(i) + 3)
		if got, want := c.String(), fmt.Sprint(i+3, " ", strings.ReplaceAll(name, "_", " ")); got != want {
			t.Errorf("String is %q, want %q", got, want)
		}
		if got, want := fmt.Sprint(c.LogValue()), fmt.Sprintf("[%s=%d]", name, i+3); got != want {
			t.Errorf("LogValue is %s, want %s", got, want)
		}
		text, err := json.Marshal(c)
		if !strings.Contains(string(text), fmt.Sprintf("%q:%d", name, i+3)) || err != nil {
			t.Errorf("%s of %d is %s in JSON, %v", name, i+3, text, err)
		}
		var back batch.Counts
		if err := json.Unmarshal(text, &back); err != nil || back != c {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
	}
	if got := (batch.Counts{}).String(); got != "nothing" {
		t.Errorf("without commands String is %q", got)
	}
	if got := (batch.Counts{Created: 2, Erased: 1}).String(); got != "2 created 1 erased" {
		t.Errorf("String is %q", got)
	}
}

func TestKindsAreWords(t *testing.T) {
	for kind, name := range []string{"erase", "put"} {
		kind := batch.Kind(kind)
		text, err := kind.MarshalText()
		if kind.String() != name || string(text) != name || err != nil {
			t.Errorf("kind %d is %q, and %q, %v", uint8(kind), kind, text, err)
		}
		var back batch.Kind
		if err := back.UnmarshalText(text); back != kind || err != nil {
			t.Errorf("%s reads back as %v, %v", text, back, err)
		}
	}
	k := batch.Put
	if err := k.UnmarshalText([]byte("update")); err == nil || k != batch.Put || !strings.Contains(err.Error(), `"update"`) {
		t.Errorf("an unknown kind: %v, %v", k, err)
	}
	if got := batch.Kind(7).String(); got != "kind 7" {
		t.Errorf("kind 7 is %q", got)
	}
}
