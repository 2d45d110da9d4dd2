package main

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"handloom/journal"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		os.Exit(runChild(os.Args[2:], os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

// TestKills_LoseNothing finds faults seeded into the journal and the world.
func TestKills_LoseNothing(t *testing.T) {
	n := 12
	if testing.Short() {
		n = 4
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	r, err := kill(context.Background(), options{
		Dir: filepath.Join(t.TempDir(), "log"), Kills: n, Seed: 1, Command: []string{path}, Progress: func(*result) { calls++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Faults {
		t.Error(f)
	}
	if r.Kills != n || calls < n || r.Acks == 0 || r.Ticks == 0 {
		t.Errorf("%+v", r)
	}
}

// Each verdict is found in the lines of a faulty child or the keys of a faulty
// state.
func TestResult_CountsEveryVerdict(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines string
		keys  []uint64
		want  result
	}{
		{"sound", "open 0 1, tick 1 2, ack 5, ack 6, open 1 2, tick 2 3", []uint64{6, 5}, result{Ticks: 2, Acks: 2}},
		{"key without an acknowledgement", "ack 5", []uint64{5, 7}, result{Acks: 1}},
		{"opens an earlier tick", "tick 1 2, tick 2 3, open 1 2", nil, result{Ticks: 2, LostTicks: 1}},
		{"plays a tick again", "tick 1 2, tick 2 3, tick 2 3", nil, result{Ticks: 2, LostTicks: 1}},
		{"replays to another digest", "tick 1 2, tick 2 3, replay 2 4, open 2 3", nil, result{Ticks: 2, Replayed: 1, Wrong: 2}},
		{"opens with another digest", "tick 1 2, open 1 7", nil, result{Ticks: 1, Wrong: 1}},
		{"acknowledged key is gone", "ack 5, ack 6, ack 7", []uint64{6}, result{Acks: 3, LostAcks: 2}},
		{"all acknowledged keys are gone", "ack 5", nil, result{Acks: 1, LostAcks: 1}},
		{"key is there twice", "ack 5", []uint64{5, 7, 5, 7, 7}, result{Acks: 1, Twice: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := result{digests: map[uint64]uint64{}, acked: map[uint64]bool{}}
			for line := range strings.SplitSeq(c.lines, ", ") {
				l := listener{result: &r}
				if !l.line(line) || l.failed != "" {
					t.Fatalf("%s: %q", line, l.failed)
				}
			}
			r.judge(slices.Values(c.keys))
			got := result{Ticks: r.Ticks, Acks: r.Acks, Replayed: r.Replayed, LostTicks: r.LostTicks, LostAcks: r.LostAcks, Twice: r.Twice, Wrong: r.Wrong}
			if faults := got.LostTicks + got.LostAcks + got.Twice + got.Wrong; !reflect.DeepEqual(got, c.want) || len(r.Faults) != faults || (len(r.Faults) > 0) != (faults > 0) {
				t.Errorf("got %+v with faults %q, want %+v", got, r.Faults, c.want)
			}
		})
	}
	for _, damage := range []error{nil, journal.ErrCorrupt} {
		for _, cut := range []string{"", "record 3"} {
			r := new(result)
			if r.judgeFiles(damage, cut); (len(r.Faults) > 0) != (damage != nil || cut != "") {
				t.Errorf("damage %v, cut %v: bad is %v", damage, cut, (len(r.Faults) > 0))
			}
		}
	}
	for _, line := range []string{"", "tick", "tick 1", "ti", "ack x", "open 1 x"} {
		l := listener{result: &result{digests: map[uint64]uint64{}, acked: map[uint64]bool{}}}
		if l.line(line) || l.failed == "" {
			t.Errorf("%q is a line", line)
		}
	}
}
