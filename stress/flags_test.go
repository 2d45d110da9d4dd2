package main

import (
	"os"
	"strings"
	"testing"

	"handloom/proof/runner"
)

func TestWrongUsageIsOneLine(t *testing.T) {
	tests := []struct{ args, want string }{
		{"bogus", `stress: unknown command "bogus"; want replay or help; see: go run ./stress -h`},
		{"-bogus", "stress: flag provided but not defined: -bogus; see: go run ./stress -h"},
		{"-shards 0", "stress: -shards is 0; want 1 to 64; see: go run ./stress -h"},
		{"-shards 65", "stress: -shards is 65; want 1 to 64; see: go run ./stress -h"},
		{"-workers 0", `stress: invalid value "0" for flag -workers: 0 is not 1 or more; see: go run ./stress -h`},
		{"-workers 1025", "stress: -workers has 1025; want 1 to 1024; see: go run ./stress -h"},
		{"-workers 1,1", `stress: invalid value "1,1" for flag -workers: 1 is named twice; see: go run ./stress -h`},
		{"-workers 1 -workers 2", `stress: invalid value "2" for flag -workers: the flag is given twice; see: go run ./stress -h`},
		{"-shards 2 FILE", `stress: "FILE" is too much; a trace is replayed by: replay FILE; see: go run ./stress -h`},
		{"replay", "stress replay: want one TRACE, not 0; the embedded trace is replayed without the command; see: go run ./stress replay -h"},
		{"replay a b", "stress replay: want one TRACE, not 2; the embedded trace is replayed without the command; see: go run ./stress replay -h"},
		{"replay no/such", "stress replay: open no/such: no such file or directory"},
		{"help bogus", `stress help: no help about ["bogus"]; want profile or replay; see: go run ./stress help -h`},
		{"-profile quick", `stress: no profile is called "quick"; want smoke, pr, nightly or long; see: go run ./stress -h`},
		{"-profile smoke -workers 1", "stress: flag provided but not defined: -workers; see: go run ./stress -h"},
		{"-profile smoke FILE", `stress: "FILE" is too much; a program is played by -program FILE; see: go run ./stress -h`},
		{"-duration 0s", "stress: -duration is 0s; want more than 0; see: go run ./stress -h"},
		{"-seeds 3 -duration 1s", "stress: -seeds and -duration do not go together; see: go run ./stress -h"},
		{"-program x -seed 3", "stress: -program and -seed do not go together; see: go run ./stress -h"},
		{"-program x -canary all", "stress: -canary and -program do not go together; see: go run ./stress -h"},
		{"-canary=", "stress: -canary wants the name of a fault, all or rare; see: go run ./stress -h"},
		{"-program no/such", "stress: open no/such: no such file or directory"},
		{"-program ../internal/trace/sample/handlemap.trace.gz", "../internal/trace/sample/handlemap.trace.gz:1: it is a trace, or compressed; a trace is replayed by: replay ../internal/trace/sample/handlemap.trace.gz"},
		{"-program testdata/table-1024.txt", "testdata/table-1024.txt:1: it is a trace, or compressed; a trace is replayed by: replay testdata/table-1024.txt"},
		{"-program testdata/bad-operation.txt", `testdata/bad-operation.txt:5: no operation is called "jump"`},
		{"-program testdata/bad-misuse.txt", `testdata/bad-misuse.txt:5: no misuse is called "kindness"; want one of ` + strings.Join(runner.Misuses(), ", ")},
	}
	for _, tt := range tests {
		got := stress(t, strings.Fields(tt.args)...)
		if got.code != exitBad || got.stdout != "" || got.stderr != tt.want+"\n" {
			t.Errorf("%s: exit code %d, %q and on standard error %q\nwant %q", tt.args, got.code, got.stdout, got.stderr, tt.want)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a run that is refused has made its folder")
	}
}

func TestFlags_MaySurroundTheFile(t *testing.T) {
	for _, args := range [][]string{
		{"replay", "a trace", "-workers", "1,3", "-shards=2"},
		{"replay", "-workers=1,3", "--shards", "2", "a trace"},
		{"replay", "-workers", "1,3", "a trace", "-shards", "2"},
		{"replay", "-shards", "2", "-workers", "1,3", "--", "a trace"},
	} {
		if o, err := parse(args); err != nil || o.file != "a trace" || o.workers.String() != "1,3" || o.shards != 2 {
			t.Errorf("%q: %+v, %v", args, o, err)
		}
	}
}

// The help runs nothing, not even random programs.
func TestHelp_CoversEveryFlag(t *testing.T) {
	for args, topic := range map[string]string{
		"-h": "", "help -h": "", "-profile pr -h": "profile", "replay -h": "replay",
		"help replay": "replay",
	} {
		want, err := helpText(topic)
		if got := stress(t, strings.Fields(args)...); err != nil || got.code != exitPassed || got.stdout != want || got.stderr != "" {
			t.Errorf("%s: exit code %d, %q, %v", args, got.code, got.stderr, err)
		}
		for line := range strings.Lines(want) {
			if len(line) > 101 {
				t.Errorf("a line of the help is too long: %s", line)
			}
		}
	}
}
