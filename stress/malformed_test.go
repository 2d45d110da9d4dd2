package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"handloom/internal/trace"
)

var malformed = []struct {
	file, want string
	ticks      int // replayed before the fault
}{
	{"created-twice.txt", ":7: key 7 of table 3 is created twice; it is alive since line 2", 2},
	{"update-unknown.txt", ":5: update of key 1 in table 1, which is not alive", 1},
	{"erase-unknown.txt", ":5: erase of key 1 in table 0, which is not alive", 1},
	{"table-1024.txt", `:4: table "1024" is out of range 0..1023`, 1},
	{"not-a-number.txt", `:4: key "two" is not an unsigned decimal number`, 1},
	{"no-header.txt", `:1: the first line is "trace of something else"; it should be "handloom-trace 1"`, 0},
	{"empty.txt", `:1: the file is empty; its first line should be "handloom-trace 1"`, 0},
	{"no-ticks.txt", ":1: the trace is empty: nothing follows its first line", 0},
	{"truncated.txt.gz", ":1029: the gzip data is cut off after this line", 20},
}

func TestMalformedTracesEndWithTheLine(t *testing.T) {
	for _, tt := range malformed {
		file := "testdata/" + tt.file
		got := stress(t, "replay", file)
		if got.code != exitBad || !strings.HasSuffix("\n"+got.stderr, "\n"+file+tt.want+"\n") { // progress may come before
			t.Errorf("%s: exit code %d and %q; want 2 and %q", tt.file, got.code, got.stderr, file+tt.want)
		}
		if want := "verdict: malformed (exit code 2): " + file + tt.want; !strings.HasPrefix(got.lastLine(), want) {
			t.Errorf("%s: the last line is %q; want %q", tt.file, got.lastLine(), want)
		}
	}
}

// The tick with the fault changes nothing, not even by the events before it.
func TestNothingIsReplayedOfTheMalformedTick(t *testing.T) {
	for _, tt := range malformed {
		f, err := os.Open("testdata/" + tt.file)
		noError(t, err)
		defer f.Close()
		r := begun(t, tt.file, []int{1, 2}, 1)
		err = r.run(t.Context(), f)
		var fault *trace.Error
		if !errors.As(err, &fault) || r.model.tick != tt.ticks || r.players[0].tick != tt.ticks {
			t.Errorf("%s: %v; %d ticks were replayed, want %d", tt.file, err, r.players[0].tick, tt.ticks)
		}
	}
}

func TestTablesThatDoNotFitAreMalformedInput(t *testing.T) {
	var events strings.Builder
	events.WriteString("handloom-trace 1\n")
	for table := range 512 { // of 64 typeIds each, where 32,767 are to be had
		events.WriteString("C " + strconv.Itoa(table) + " 1\n")
	}
	p := command{stdin: strings.NewReader(events.String())}
	got := p.stress(t.Context(), "replay", "-", "-shards", "64", "-workers", "1")
	if got.code != exitBad || !strings.Contains("\n"+got.stderr, "\nstdin:513: table 511 does not fit: ") {
		t.Errorf("exit code %d and %q", got.code, got.stderr)
	}
}
