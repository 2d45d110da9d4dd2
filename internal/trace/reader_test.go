package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"handloom/internal/check"
	"handloom/internal/trace"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

// readAll returns the events of text up to its end or first error. It stops
// after many, because a fuzzed text may expand without end.
func readAll(text string) ([]trace.Event, error) {
	r, err := trace.NewReader(strings.NewReader(text), "x.trace")
	if err != nil {
		return nil, err
	}
	var events []trace.Event
	for len(events) < 10_000 {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func readerOf(t testing.TB, in io.Reader, name string) *trace.Reader {
	t.Helper()
	r, err := trace.NewReader(in, name)
	noError(t, err)
	return r
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	noError(t, err)
	noError(t, w.Close())
	return b.String()
}

func TestReader_GivesEventsWithLines(t *testing.T) {
	text := "handloom-trace 1 # header\n# a comment\n\nC 0 0\n  U\t1023   18446744073709551615 \t# after an event\nT# ends\nE 7 42"
	want := []trace.Event{
		{Kind: trace.Create, Line: 4},
		{Kind: trace.Update, Table: 1023, Key: 1<<64 - 1, Line: 5},
		{Kind: trace.Tick, Line: 6},
		{Kind: trace.Erase, Table: 7, Key: 42, Line: 7},
	}
	for name, text := range map[string]string{"plain": text, "gzip": zipped(t, text)} {
		got, err := readAll(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, events differ (-want +got):\n%s", name, err, diff)
		}
	}
}

const h = "handloom-trace 1\n"

var faulty = []struct{ name, text, want string }{
	{"empty file", "", `1: the file is empty; its first line should be "handloom-trace 1"`},
	{"no header", "C 1 2\n", `1: the first line is "C 1 2"; it should be "handloom-trace 1"`},
	{"one byte", "\x1f", `1: the first line is "\x1f"; it should be "handloom-trace 1"`},
	{"other version", "handloom-trace 2\n", `1: trace version "2" is not known here; want version 1`},
	{"line in CR LF", h + "C 1 2\r\n", "2: the line ends in CR LF; lines of a trace end in LF alone"},
	{"unknown letter", h + "\nX 1 2\n", `3: unknown event "X"; want T, C, U or E`},
	{"tick with a field", h + "T 1\n", `2: T stands alone, but "1" follows it`},
	{"no fields", h + "C\n", "2: C without table and key; want C <table> <key>"},
	{"no key", h + "E 1 # 2\n", "2: E without key; want E <table> <key>"},
	{"extra field", h + "U 1 2 3\n", `2: extra field "3" after the key`},
	{"table too high", h + "C 1024 2\n", `2: table "1024" is out of range 0..1023`},
	{"table not decimal", h + "C 0x1 2\n", `2: table "0x1" is not an unsigned decimal number`},
	{"key with sign", h + "C 1 -2\n", `2: key "-2" is not an unsigned decimal number`},
	{"key too high", h + "C 1 18446744073709551616\n", `2: key "18446744073709551616" is out of range 0..18446744073709551615`},
	{"leading zero", h + "C 1 02\n", `2: key "02" has a leading zero; a number has one spelling`},
	{"long line", h + "#" + strings.Repeat("x", trace.MaxLine) + "\n", "2: the line is longer than 4096 bytes"},
	{"very long line", h + "#" + strings.Repeat("x", 1<<20), "2: the line is longer than 4096 bytes"},
	{"long text in message", h + strings.Repeat("x", 50), `2: unknown event "` + strings.Repeat("x", 40) + `"...; want T, C, U or E`},
}

func TestReader_TakesTheLongestLine(t *testing.T) {
	got, err := readAll("handloom-trace 1\nT #" + strings.Repeat("x", trace.MaxLine-3) + "\n")
	if err != nil || len(got) != 1 {
		t.Errorf("got %v, %v; want one event", got, err)
	}
}

func TestReader_NamesFileLineAndReason(t *testing.T) {
	whole := zipped(t, h+strings.Repeat("T\n", 1000))
	flipped := []byte(whole)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for _, tt := range append([]struct{ name, text, want string }{
		{"only the first bytes", whole[:2], "1: the gzip data is cut off after this line"},
		{"without checksum", whole[:len(whole)-8], "1001: the gzip data is cut off after this line"},
		{"wrong checksum", string(flipped), "1001: the gzip data is corrupt after this line (gzip: invalid checksum)"},
		{"text after it", whole + "C 1 2\n", "1001: the gzip data is cut off after this line"},
		{"more text after it", whole + "C 1 2\nC 1 3\n", "1001: the gzip data is corrupt after this line (gzip: invalid header)"},
		{"wrong method", "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00", "1: the gzip data is corrupt after this line (gzip: invalid header)"},
		{"wrong block", whole[:10] + "\xff\xff", "1: the gzip data is corrupt after this line (flate: corrupt input before offset 1)"},
	}, faulty...) {
		_, err := readAll(tt.text)
		checkFault(t, err)
		if got, want := err.Error(), "x.trace:"+tt.want; got != want {
			t.Errorf("%s: error is\n%s\nwant\n%s", tt.name, got, want)
		}
	}
}

func TestReader_HidesCutLines(t *testing.T) {
	boom := errors.New("disk on fire")
	in := io.MultiReader(strings.NewReader("handloom-trace 1\nT\nC 1 23"), iotest.ErrReader(boom))
	r := readerOf(t, in, "x.trace")
	_, err := r.Next()
	noError(t, err)
	e, err := r.Next()
	if want := "x.trace:2: reading failed after this line: disk on fire"; !errors.Is(err, boom) || err.Error() != want {
		t.Errorf("Next = %v, %v; want error %s that wraps the cause", e, err, want)
	}
}

func TestReader_RepeatsItsError(t *testing.T) {
	r := readerOf(t, strings.NewReader("handloom-trace 1\nX\nT\n"), "x.trace")
	_, first := r.Next()
	_, second := r.Next()
	if first == nil || first != second {
		t.Errorf("errors are %v and then %v; want one and the same", first, second)
	}
}

func TestReader_TakesSingleBytes(t *testing.T) {
	text := "handloom-trace 1\nC 1 2\nT\n"
	for _, text := range []string{text, zipped(t, text)} {
		r := readerOf(t, iotest.OneByteReader(strings.NewReader(text)), "x")
		if e, err := r.Next(); err != nil || e.Key != 2 {
			t.Errorf("Next = %v, %v; want key 2", e, err)
		}
	}
}

func TestReader_DoesNotAllocatePerEvent(t *testing.T) {
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate")
	}
	text := "handloom-trace 1\n" + strings.Repeat("C 12 1234567\n", 2000)
	r := readerOf(t, strings.NewReader(text), "x")
	if allocs := testing.AllocsPerRun(1000, func() { _, err := r.Next(); noError(t, err) }); allocs != 0 {
		t.Errorf("%v allocations per event; want 0", allocs)
	}
}

func rewrite(events []trace.Event) string {
	var b strings.Builder
	b.WriteString("handloom-trace 1\n")
	for _, e := range events {
		if e.Kind == trace.Tick {
			b.WriteString("T\n")
		} else {
			fmt.Fprintf(&b, "%c %d %d\n", e.Kind, e.Table, e.Key)
		}
	}
	return b.String()
}

var anyLine = cmp.Options{cmpopts.IgnoreFields(trace.Event{}, "Line"), cmpopts.EquateEmpty()}

func TestReader_ReadsAllEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOf(anyEvent(trace.MaxTable, math.MaxUint64)).Draw(t, "events")
		got, err := readAll(rewrite(events))
		noError(t, err)
		if diff := cmp.Diff(events, got, anyLine); diff != "" {
			t.Fatalf("events differ (-written +read):\n%s", diff)
		}
	})
}

func anyEvent(maxTable uint16, maxKey uint64) *rapid.Generator[trace.Event] {
	return rapid.Custom(func(t *rapid.T) trace.Event {
		e := trace.Event{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		if e.Kind != trace.Tick {
			e.Table = rapid.Uint16Range(0, maxTable).Draw(t, "table")
			e.Key = rapid.Uint64Range(0, maxKey).Draw(t, "key")
		}
		return e
	})
}

func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
