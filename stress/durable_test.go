package main

import (
	"context"
	"os"
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
	for args, want := range map[string]string{
		"-durable " + dir:           "is not empty; the journal begins there",
		"-durable= -kills 1":        "want one DIR",
		"-durable x y":              `["y"] is too much`,
		"-durable x -kills 0":       "-kills is 0; want 1 to 1000000",
		"-durable x -profile smoke": "flag provided but not defined: -profile",
	} {
		if o := (command{}).stress(context.Background(), strings.Fields(args)...); o.code != 2 || !strings.Contains(o.stderr, want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d\n%s", args, o.code, o.stderr)
		}
	}
	stress(t, "-durable", "-h").want(t, 2, "")
	if _, err := os.Stat("x"); err == nil {
		t.Error("a run that is refused has made its folder")
	}
}

func TestDurable_ReportsFailingChildren(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, nil)
	stress(t, "-durable", filepath.Join(file, "log"), "-kills", "1").want(t, 11, "verdict: failed (exit code 11): child ")
}
