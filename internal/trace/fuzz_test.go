package trace_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handloom/internal/trace"
)

// FuzzReader: for any bytes, the reader ends in io.EOF or in one *Error, and
// the accepted events can be written and read again.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		"handloom-trace 1\n",
		"handloom-trace 1\nC 1 2\nU 1 2\nT\nE 1 2\n",
		"handloom-trace 1 # c\n\n \t C\t1023 18446744073709551615 # c\nT#\nE 0 0",
		"\x1f\x8b",
		"\x1f\x8b\x08\x00",
		zipped(f, "handloom-trace 1\nC 1 2\nT\n"),
		zipped(f, "handloom-trace 1\nC 1 2\nT\n")[:40],
	} {
		f.Add([]byte(text))
	}
	for _, tt := range faulty {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := readAll(string(data))
		if err != nil {
			checkFault(t, err)
			return
		}
		again, err := readAll(rewrite(events))
		noError(t, err)
		if diff := cmp.Diff(events, again, anyLine); diff != "" {
			t.Fatalf("events differ (-first +again):\n%s", diff)
		}
	})
}

func checkFault(t *testing.T, err error) {
	t.Helper()
	fault, ok := errors.AsType[*trace.Error](err)
	if !ok || fault.File != "x.trace" || fault.Line < 1 || fault.Reason == "" || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %T %q, want a *trace.Error of one line with file, line and reason", err, err)
	}
}
