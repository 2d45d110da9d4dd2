package main

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"handloom/internal/trace"
)

var malformed = []struct {
	file, want string
	ticks      int
}{
	{"created-twice.txt", ":7: key 7 of table 3 is created twice; it is alive since line 2", 2},
	{"table-1024.txt", `:4: table "1024" is out of range 0..1023`, 1},
	{"no-header.txt", `:1: the first line is "trace of something else"; it should be "handloom-trace 1"`, 0},
	{"empty.txt", `:1: the file is empty; its first line should be "handloom-trace 1"`, 0},
	{"no-ticks.txt", ":1: the trace is empty: nothing follows its first line", 0},
	{"truncated.txt.gz", ":1029: the gzip data is cut off after this line", 20},
}

// The tick with the fault changes nothing.
func TestMalformedTraces_EndWithTheLine(t *testing.T) {
	for _, tt := range malformed {
		file := "testdata/" + tt.file
		got := stress(t, "replay", file)
		if !strings.HasSuffix("\n"+got.stderr, "\n"+file+tt.want+"\n") { // progress may come first
			t.Errorf("got %q, want %q", got.stderr, file+tt.want)
		}
		got.want(t, exitBad, "verdict: malformed (exit code 2): "+file+tt.want)
		r := begun(t, tt.file, []int{1, 2}, 1)
		err := r.run(t.Context(), bytes.NewReader(readFile(t, file)))
		var fault *trace.Error
		if !errors.As(err, &fault) || r.model.tick != tt.ticks || r.players[0].tick != tt.ticks {
			t.Errorf("%v; %d ticks were replayed, want %d", err, r.players[0].tick, tt.ticks)
		}
	}
}

func TestReplay_RefusesTooManyTables(t *testing.T) {
	var events strings.Builder
	events.WriteString("handloom-trace 1\n")
	for table := range 512 { // of 64 typeIds each; 32,767 exist
		events.WriteString("C " + strconv.Itoa(table) + " 1\n")
	}
	p := command{stdin: strings.NewReader(events.String())}
	p.stress(t.Context(), "replay", "-", "-shards", "64", "-workers", "1").want(t, exitBad, "\nstdin:513: table 511 does not fit: ")
}
