package main

import (
	"slices"
	"strings"
	"testing"

	"handloom/internal/cli"
)

// The race detector is slow; with it, only eight workers run.
func TestMainJob_Verifies(t *testing.T) {
	workers, args := "1,2,4,8", []string(nil)
	if slices.Contains(cli.BuildFlags(), "-race") {
		workers, args = "8", []string{"-workers", "8"}
	}
	got := stress(t, args...)
	got.want(t, exitVerified, "verdict: verified (exit code 0): ticks 857, workers "+workers+",")
	if want := cli.CommandLine("go run ./stress", args...) + "\n"; !strings.HasPrefix(got.stdout, want) {
		t.Errorf("got %s\nwant the first line %s", got.stdout, want)
	}
	if n := strings.Count(got.stdout, "\n  "); n < strings.Count(workers, ",")+1 || !strings.Contains(got.stdout, "workers") {
		t.Errorf("the table has %d rows:\n%s", n, got.stdout)
	}
}
