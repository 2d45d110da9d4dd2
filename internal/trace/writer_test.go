package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"handloom/internal/trace"
)

func ExampleReader_Ticks() {
	text := "handloom-trace 1\nC 1 10\nC 1 11\nT\nE 1 11\nE 1 12\n"
	r, err := trace.NewReader(strings.NewReader(text), "demo.trace")
	if err != nil {
		fmt.Println(err)
		return
	}
	checker := trace.NewChecker("demo.trace")
	for events, err := range r.Ticks() {
		if err == nil {
			err = checker.CheckBatch(events)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(events), "events to replay")
	}
	// Output:
	// 2 events to replay
	// demo.trace:6: erase of key 12 in table 1, which is not alive
}

// rewrite returns events as text.
func rewrite(t interface{ Fatal(...any) }, events []trace.Event) string {
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	for _, e := range events {
		w.Event(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withoutLines returns events as they were before a Reader saw them.
func withoutLines(events []trace.Event) []trace.Event {
	plain := make([]trace.Event, len(events))
	for i, e := range events {
		e.Line = 0
		plain[i] = e
	}
	return plain
}

func TestNamesOfTablesAreReadBack(t *testing.T) {
	var text bytes.Buffer
	w := trace.NewWriter(&text)
	w.Name(7, "ship: a\nlong one")
	w.Comment("table 8, in other words")
	w.Comment("table 1024: out of range")
	w.Comment("table x: no number")
	w.Create(7, 1)
	w.Name(9, "shot")
	w.Tick()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := readerOf(t, &text, "names")
	if _, err := r.Next(); err != nil || r.Name(7) != "ship: a long one" || r.Name(9) != "" {
		t.Errorf("%v; the tables are called %q and %q", err, r.Name(7), r.Name(9))
	}
	if _, err := r.Next(); err != nil || r.Name(9) != "shot" || r.Name(8) != "" || r.Name(1024) != "" {
		t.Errorf("%v; the tables are called %q, %q and %q", err, r.Name(9), r.Name(8), r.Name(1024))
	}
}

func TestReaderGivesWhatWriterWrote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOf(anyEvent()).Draw(t, "events")
		got, err := readAll(rewrite(t, events))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]trace.Event{}, events...), withoutLines(got)); diff != "" {
			t.Fatalf("events differ (-written +read):\n%s", diff)
		}
	})
}

func anyEvent() *rapid.Generator[trace.Event] {
	return rapid.Custom(func(t *rapid.T) trace.Event {
		e := trace.Event{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		if e.Kind != trace.Tick {
			e.Table = rapid.Uint16Range(0, trace.MaxTable).Draw(t, "table")
			e.Key = rapid.Uint64().Draw(t, "key")
		}
		return e
	})
}

func TestWriterCommentsAreNoEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		w := trace.NewWriter(&b)
		w.Comment(rapid.String().Draw(t, "comment"))
		w.Tick()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(b.String()); err != nil || len(got) != 1 {
			t.Fatalf("read %v, %v of %q; want one tick", got, err, b.String())
		}
	})
}

func TestWriterCutsAndCleansComments(t *testing.T) {
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	w.Comment("a\r\nC 1 2\n\n" + strings.Repeat("x", 5000))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "handloom-trace 1\n# a?\n# C 1 2\n#\n# " + strings.Repeat("x", trace.MaxLine-2) + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text differs (-want +got):\n%s", diff)
	}
}

func TestWriterWritesTheHeaderOnce(t *testing.T) {
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	for range 2 {
		w.Header()
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || b.String() != "handloom-trace 1\n" {
		t.Errorf("wrote %q, %v; want the header once", b.String(), err)
	}
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	tests := []struct {
		name  string
		event trace.Event
		want  string
	}{
		{"table", trace.Event{Kind: trace.Create, Table: 1024}, "trace: table 1024 is out of range 0..1023"},
		{"kind", trace.Event{Kind: 'X'}, "trace: event of unknown kind 'X'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			w := trace.NewWriter(&b)
			w.Event(tt.event)
			w.Create(1, 1)
			w.Event(trace.Event{Kind: 'Y'})
			if err := w.Close(); err == nil || err.Error() != tt.want {
				t.Errorf("Close = %v; want %s", err, tt.want)
			}
			if b.Len() > 0 {
				t.Errorf("%q was written", b.String())
			}
		})
	}
}

func TestWriterTellsThatItsOutputFailed(t *testing.T) {
	w := trace.NewWriter(full{})
	w.Tick()
	for range 2 {
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("Close = %v; want %v", err, errFull)
		}
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestKindsHaveNames(t *testing.T) {
	var names []string
	for _, k := range append(kinds, 0) {
		names = append(names, k.String())
	}
	if got := strings.Join(names, " "); got != "tick create update erase unknown" {
		t.Errorf("names are %s", got)
	}
}
