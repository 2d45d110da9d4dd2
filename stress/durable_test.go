package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

func TestDurable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	o := command{}.stress(context.Background(), "-durable", dir, "-kills", "3", "-seed", "4")
	const verdict = "verdict: passed (exit code 0): kills 3: ticks lost 0, acknowledged and lost 0, applied twice 0, wrong digests 0"
	if o.code != 0 || o.lastLine() != verdict || !strings.HasPrefix(o.stdout, "go run ./stress -durable "+dir+" -kills 3 -seed 4\n") {
		t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	stress(t, "-durable", "-h").want(t, 2, "")
}

func TestDurable_ReportsFailingChildren(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, nil)
	stress(t, "-durable", filepath.Join(file, "log"), "-kills", "1").want(t, 11, "verdict: failed (exit code 11): child ")
}
