package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"handloom/internal/trace"
)

const h = "handloom-trace 1\n"

// read returns the ticks of a trace as text, and its error. It stops after many, because a
// fuzzed text may expand without end.
func read(in io.Reader) (text string, err error) {
	var b strings.Builder
	for events, err := range trace.Ticks(in, "x.trace") {
		if err != nil {
			return b.String(), err
		}
		for _, e := range events {
			fmt.Fprintf(&b, "%c %d %d\n", e.Kind, e.Table, e.Key)
		}
		if b.WriteString("T\n"); b.Len() > 1<<20 {
			break
		}
	}
	return b.String(), nil
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTicks_CutBatchesAtT(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"T\n":                      "T\n",
		"C 1 1\nT\nT\nC 1 2":       "C 1 1\nT\nT\nC 1 2\nT\n", // the end of the file ends a tick
		"# a comment\n\nT# ends\n": "T\n",
		"  C\t1023   18446744073709551615 \t# after it\nT": "C 1023 18446744073709551615\nT\n",
		"C 1 5\nE 1 5\nC 1 5\nC 2 5\nU 2 5\nT\n":           "C 1 5\nE 1 5\nC 1 5\nC 2 5\nU 2 5\nT\n",
		"T #" + strings.Repeat("x", trace.MaxLine-3):       "T\n",
	} {
		text = "handloom-trace 1 # header\n" + text
		for name, in := range map[string]io.Reader{
			"plain": strings.NewReader(text), "gzip": strings.NewReader(zipped(t, text)), "bytes": iotest.OneByteReader(strings.NewReader(zipped(t, text))),
		} {
			if got, err := read(in); err != nil || got != want {
				t.Errorf("%s %q: got %q, %v, want %q", name, text, got, err, want)
			}
		}
	}
}

var faulty = map[string]string{
	"":                               `1: the file is empty; its first line should be "handloom-trace 1"`,
	"C 1 2\n":                        `1: the first line is "C 1 2"; it should be "handloom-trace 1"`,
	"handloom-trace 2\n":             `1: the first line is "handloom-trace 2"; it should be "handloom-trace 1"`,
	h + "T\nC 1 2\r\n":               "3: the line ends in CR LF; lines of a trace end in LF alone",
	h + "\nX 1 2\n":                  `3: unknown event "X"; want T, C, U or E`,
	h + "T 1\n":                      `2: unknown event "T"; want T, C, U or E`,
	h + "C\n":                        "2: 1 fields; want C <table> <key>",
	h + "U 1 2 3\n":                  "2: 4 fields; want U <table> <key>",
	h + "C 1024 2\n":                 `2: table "1024" is not a number in 0..1023`,
	h + "C 0x1 2\n":                  `2: table "0x1" is not a number in 0..1023`,
	h + "C 1 -2\n":                   `2: key "-2" is not a number in 0..18446744073709551615`,
	h + "C 1 18446744073709551616\n": `2: key "18446744073709551616" is not a number in 0..18446744073709551615`,
	h + "C 1 02\n":                   `2: key "02" has a leading zero; a number has one spelling`,
	h + "C 1 5\nT\nC 1 5\n":          "4: key 5 of table 1 is created twice; it is alive since line 2",
	h + "C 1 5\nU 2 5\n":             "3: U of key 5 in table 2, which is not alive",
	h + "C 1 5\nE 1 5\nE 1 5\n":      "4: E of key 5 in table 1, which is not alive",

	h + "#" + strings.Repeat("x", trace.MaxLine) + "\n": "2: the line is longer than 4096 bytes",
	h + "#" + strings.Repeat("x", 1<<20):                "2: the line is longer than 4096 bytes",
}

func TestTicks_ErrorsNameFileLineAndReason(t *testing.T) {
	whole := zipped(t, h+strings.Repeat("T\n", 1000))
	flipped := []byte(whole)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	boom := errors.New("disk on fire")
	inputs := map[io.Reader]string{
		strings.NewReader(whole[:2]):            "1: the gzip data is cut off after this line",
		strings.NewReader(whole[:len(whole)-8]): "1001: the gzip data is cut off after this line",
		bytes.NewReader(flipped):                "1001: reading failed after this line: gzip: invalid checksum",
		strings.NewReader(whole[:10] + "\xff"):  "1: reading failed after this line: flate: corrupt input before offset 1",
		// Half a number is another number.
		io.MultiReader(strings.NewReader(h+"T\nC 1 23"), iotest.ErrReader(boom)): "2: reading failed after this line: disk on fire",
	}
	for text, want := range faulty {
		inputs[strings.NewReader(text)] = want
	}
	for in, want := range inputs {
		if _, err := read(in); err == nil || err.Error() != "x.trace:"+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// For any bytes, the ticks end, or end in one *Error, and they can be written and read again.
func FuzzTicks(f *testing.F) {
	for text := range faulty {
		f.Add([]byte(text))
	}
	f.Add([]byte(h + "C 1 2\nU 1 2\nT\nE 1 2\n"))
	f.Add([]byte(zipped(f, h+"C 1 2\nT\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		ticks, err := read(bytes.NewReader(data))
		if fault, ok := errors.AsType[*trace.Error](err); err != nil && (!ok || fault.Line < 1 || fault.Reason == "" || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("got %T %q, want a *trace.Error of one line with file, line and reason", err, err)
		}
		if again, err := read(strings.NewReader(h + ticks)); err != nil || again != ticks {
			t.Fatalf("got %q, %v; and before\n%q", again, err, ticks)
		}
	})
}

func TestSample_IsSmallAndVaried(t *testing.T) {
	events, tables := 0, []uint16(nil)
	for tick, err := range trace.Ticks(bytes.NewReader(trace.Sample), "sample") {
		if err != nil {
			t.Fatal(err)
		}
		events += len(tick)
		for _, e := range tick {
			tables = append(tables, e.Table)
		}
	}
	slices.Sort(tables)
	if n := len(slices.Compact(tables)); len(trace.Sample) > 300_000 || events < 100_000 || n < 20 {
		t.Errorf("%d bytes, %d events, %d tables; want at most 300,000, at least 100,000 and 20", len(trace.Sample), events, n)
	}
}
