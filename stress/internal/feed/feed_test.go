package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock is a time that tests set.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

// say lets a feed say one event of each kind, a second apart.
func say(c *clock, f *Feed) {
	for _, s := range []func(){
		func() {
			f.Start(Start{Title: "t", Command: "c <x>", Unit: "commands", Go: "go0", Platform: "p", GOMAXPROCS: 3, Details: []Fact{{"seed", "1"}}})
		},
		func() { f.Progress("half") },
		func() {
			f.Sample(Sample{Interval: time.Second, Ticks: 60, Operations: 500, Live: 7, Shards: []Shard{{"a", 0, 3}, {"a", 1, 4}}})
		},
		func() { f.Failure(Failure{What: "w", Replay: "r", Detail: "1\n2"}) },
		func() {
			f.Verdict(Verdict{Verdict: "model", ExitCode: 10, Reason: "w", Totals: []Fact{{"ticks", "60"}}})
		},
	} {
		s()
		c.Time = c.Add(time.Second)
	}
}

func TestEventsAreVersionedLinesThatReadBack(t *testing.T) {
	c := &clock{time.Unix(100, 0)}
	var out bytes.Buffer
	var kept Collector
	f := newAt(c.now, NewLines(&out), &kept)
	say(c, f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	kinds := []Kind{KindStart, KindProgress, KindSample, KindFailure, KindVerdict}
	if len(lines) != len(kinds) {
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	for i, line := range lines {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		kind := string(kinds[i])
		if e["version"] != 1.0 || e["kind"] != kind || e["elapsed_ns"] != float64(i)*1e9 || e[kind] == nil || len(e) != 4 {
			t.Errorf("line %d is %s", i+1, line)
		}
	}
	var again Collector
	for e, err := range Read(&out) {
		if err != nil {
			t.Fatal(err)
		}
		again.Event(e)
	}
	if diff := cmp.Diff(kept, again, cmp.AllowUnexported(Collector{})); diff != "" {
		t.Errorf("read back it differs:\n%s", diff)
	}
	if kept.Elapsed != 4*time.Second || kept.Failed != 1 || kept.Verdict.ExitCode != 10 || kept.Points[0].Rate() != 500 {
		t.Errorf("the collector holds %+v", kept)
	}
}

func TestReadStopsAtTheFirstFault(t *testing.T) {
	tests := map[string]string{
		"{\"version\":1}\n{\"version\":2}\n": "event 2: version 2; want 1",
		"{\"version\":1}\nx\n":               "event 2: invalid character 'x' looking for beginning of value",
		"{\"version\":1}\n{\"version\":1":    "event 2: unexpected end of JSON input",
	}
	for text, want := range tests {
		var good int
		var fault error
		for _, err := range Read(strings.NewReader(text)) {
			if err != nil {
				fault = err
				continue
			}
			good++
		}
		if good != 1 || fault == nil || fault.Error() != want {
			t.Errorf("%q: %d events and %v; want 1 and %s", text, good, fault, want)
		}
	}
}

func TestAFullDiskIsAnErrorAtTheEndAndStopsNobody(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	c := &clock{time.Unix(0, 0)}
	var kept Collector
	f := newAt(c.now, NewLines(full), &kept)
	say(c, f)
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Close returned %v", err)
	}
	if kept.Verdict == nil || len(kept.Points) != 1 {
		t.Errorf("the other sink holds %+v", kept)
	}
}

// full is a disk that is full once.
type full struct{ bytes.Buffer }

func (w *full) Write(b []byte) (int, error) {
	if w.Len() == 0 {
		w.Buffer.WriteString("-")
		return 0, errors.New("full")
	}
	return w.Buffer.Write(b)
}

func TestNothingIsWrittenBehindAGap(t *testing.T) {
	var disk full
	l := NewLines(&disk)
	l.Event(Event{})
	l.Event(Event{})
	if err := l.Close(); err == nil || err.Error() != "full" || disk.String() != "-" {
		t.Errorf("Close returned %v and %q is written", err, disk.String())
	}
}

// broken is a sink that fails.
type broken struct{ Collector }

func (*broken) Close() error { return errors.New("broken") }

func TestCloseClosesAllAndJoinsWhatFailed(t *testing.T) {
	f := New(new(broken), new(Collector), new(broken))
	if err := f.Close(); err == nil || err.Error() != "broken\nbroken" {
		t.Errorf("Close returned %v", err)
	}
	f.Progress("nobody hears this")
	if err := f.Close(); err != nil {
		t.Errorf("the second Close returned %v", err)
	}
}

func TestANilFeedTellsNobody(t *testing.T) {
	var f *Feed
	say(&clock{}, f)
	f.Relay(Event{})
	if d := f.Elapsed(); d != 0 {
		t.Errorf("it has run for %v", d)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestStartFillsInThePlatform(t *testing.T) {
	var c Collector
	f := New(&c)
	f.Start(Start{})
	if s := c.Start; s.Go == "" || !strings.Contains(s.Platform, "/") || s.GOMAXPROCS < 1 {
		t.Errorf("it says %+v", s)
	}
}

func TestManyGoroutinesMaySpeak(t *testing.T) {
	var c Collector
	f := New(&c)
	var speakers sync.WaitGroup
	for range 8 {
		speakers.Go(func() {
			for range 100 {
				f.Sample(Sample{Operations: 1})
			}
		})
	}
	speakers.Wait()
	sum := 0
	for _, p := range c.Points {
		sum += p.Operations
	}
	if sum != 800 {
		t.Errorf("%d operations were heard of; want 800", sum)
	}
}
