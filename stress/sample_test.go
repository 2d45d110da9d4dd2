package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"handloom/internal/cli"
	"handloom/internal/trace"
)

func TestSampleIsWhatItsDescriptionSays(t *testing.T) {
	reader, err := trace.NewReader(bytes.NewReader(sample), "sample")
	if err != nil {
		t.Fatal(err)
	}
	checker, events, tables := trace.NewChecker("sample"), 0, make(map[uint16]bool)
	for tick, err := range reader.Ticks() {
		if err == nil {
			err = checker.CheckBatch(tick)
		}
		if err != nil {
			t.Fatal(err)
		}
		events += len(tick)
		for _, e := range tick {
			tables[e.Table] = true
		}
	}
	if len(sample) > 300_000 || events < 100_000 || len(tables) < 20 {
		t.Errorf("%d bytes, %d events, %d tables; want at most 300,000, at least 100,000 and 20", len(sample), events, len(tables))
	}
}

func TestSampleNamesNoMachine(t *testing.T) {
	zip, err := gzip.NewReader(bytes.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
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

// The main job, as a user calls it; under the race detector, which makes it slow,
// with fewer workers.
func TestMainJobVerifies(t *testing.T) {
	workers, args := "1,2,4,8", []string(nil)
	if slices.Contains(cli.BuildFlags(), "-race") {
		workers, args = "2,8", []string{"-workers", "2,8"}
	}
	got := stress(t, args...)
	if got.code != exitVerified || !strings.HasPrefix(got.lastLine(), "verdict: verified (exit code 0): ticks 857, workers "+workers+",") {
		t.Errorf("exit code %d; it printed\n%s%s", got.code, got.stdout, got.stderr)
	}
	first, _, _ := strings.Cut(got.stdout, "\n")
	if want := "go run ./stress -workers " + workers + " -shards 1"; first != want {
		t.Errorf("the first line is %q; want %q", first, want)
	}
	if n := strings.Count(got.stdout, "\n  "); n < strings.Count(workers, ",")+1 || !strings.Contains(got.stdout, "workers") {
		t.Errorf("the table has %d rows:\n%s", n, got.stdout)
	}
}
