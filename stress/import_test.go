package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handloom/internal/cli"
)

const small = "../internal/trace/testdata/small.trace"

func TestImportPrintsTraceAndSummary(t *testing.T) {
	got := stress(t, "import", "goalloc", small, "-o", "-")
	if got.code != 0 || !strings.HasPrefix(got.stdout, "handloom-trace 1\n") || !strings.Contains(got.stdout, "# table 4: main.node\n") {
		t.Errorf("exit code %d; it printed %s", got.code, got.stdout)
	}
	if !strings.HasPrefix(got.stderr, "316 events ") {
		t.Errorf("its summary is %s", got.stderr)
	}
}

func TestImportCompressesWhatReplayReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.gz")
	if got := stress(t, "import", "goalloc", small, "-o", path); got.code != 0 {
		t.Fatal(got.stderr)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	if want := stress(t, "import", "goalloc", small, "-o", "-"); string(text) != want.stdout {
		t.Error("the compressed trace is another than the printed one")
	}
	if got := stress(t, "replay", path); got.code != exitVerified {
		t.Errorf("its replay: exit code %d, %s", got.code, got.lastLine())
	}
}

func TestImportReadsStandardInputAndCuts(t *testing.T) {
	f, err := os.Open(small)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(t.TempDir(), "x.txt")
	got := command{stdin: f}.stress(t.Context(), "import", "goalloc", "-", "-o", path, "-max", "300", "-tables", "2")
	if got.code != 0 || !strings.Contains(got.stderr, "and 2 tables") || !strings.Contains(got.stderr, "cut at a tick") {
		t.Errorf("exit code %d, %s", got.code, got.stderr)
	}
}

func TestImportKeepsTheFileOnAFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	writeFile(t, path, []byte("old"))
	ended, end := context.WithCancel(t.Context())
	end()
	terminated, terminate := context.WithCancelCause(t.Context())
	terminate(cli.ErrTerminated)
	tests := []struct {
		ctx  context.Context
		in   string
		code int
		want string
	}{
		{t.Context(), "-", exitBad, "stress import: stdin: "},
		{t.Context(), "testdata/no-header.txt", exitBad, "stress import: testdata/no-header.txt: "},
		{t.Context(), "no/such", exitBad, "stress import: open no/such: "},
		{ended, small, exitInterrupted, "stress import: interrupted; " + path + " is as it was"},
		{terminated, small, cli.ExitTerminated, "stress import: interrupted; " + path + " is as it was"},
	}
	for _, tt := range tests {
		got := command{}.stress(tt.ctx, "import", "goalloc", tt.in, "-o", path)
		if got.code != tt.code || !strings.HasPrefix(got.stderr, tt.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q; want %d, %q", tt.in, got.code, got.stderr, tt.code, tt.want)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
			t.Errorf("%s: the file holds %q, %v; want what it held before", tt.in, text, err)
		}
	}
}
