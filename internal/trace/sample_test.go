package trace_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"handloom/internal/trace"
)

func TestSample_IsSmallAndVaried(t *testing.T) {
	reader := readerOf(t, bytes.NewReader(trace.Sample), "sample")
	checker, events, tables := trace.NewChecker("sample"), 0, make(map[uint16]bool)
	for tick, err := range reader.Ticks() {
		if err == nil {
			err = checker.CheckBatch(tick)
		}
		noError(t, err)
		events += len(tick)
		for _, e := range tick {
			tables[e.Table] = true
		}
	}
	if len(trace.Sample) > 300_000 || events < 100_000 || len(tables) < 20 {
		t.Errorf("%d bytes, %d events, %d tables; want at most 300,000, at least 100,000 and 20", len(trace.Sample), events, len(tables))
	}
}

func TestSample_NamesNoMachine(t *testing.T) {
	zip, err := gzip.NewReader(bytes.NewReader(trace.Sample))
	noError(t, err)
	text, err := io.ReadAll(zip)
	if err != nil || zip.Name != "" || zip.Comment != "" {
		t.Fatalf("%v, file name %q, comment %q", err, zip.Name, zip.Comment)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") && (strings.Contains(line, " /") || strings.Contains(line, "command-line")) {
			t.Errorf("a comment has a path: %s", line)
		}
	}
}
