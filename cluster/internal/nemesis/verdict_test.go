package nemesis

import (
	"io"
	"strings"
	"testing"

	"handloom/cluster/internal/localnet"
)

func newTestRun() *run {
	r := &run{Fleet: &localnet.Fleet{Options: localnet.Options{Out: io.Discard}}}
	r.auditor.OnFault = r.Fault
	return r
}

func TestNote_CountsZombies(t *testing.T) {
	for _, c := range []struct {
		zombie        bool
		before, after uint32
		fenced        bool
		zombies, all  int // fenced, and total
	}{
		{zombie: true, before: 3, after: 4, fenced: true, zombies: 1, all: 1},
		{zombie: true, before: 3, after: 4, zombies: 0, all: 1},
		{zombie: true, before: 3, after: 3, fenced: true}, // no new owner
		{before: 3, after: 4, fenced: true},
	} {
		r := newTestRun()
		r.note(&event{kind: Kind{zombie: c.zombie}, Event: Event{Before: c.before, After: c.after, Fenced: c.fenced}})
		if r.result.Zombies != c.all || r.result.Fenced != c.zombies || len(r.result.Events) != 1 {
			t.Errorf("%+v: %d zombies, %d fenced", c, r.result.Zombies, r.result.Fenced)
		}
	}
}

func TestReceive_ReportsToAuditor(t *testing.T) {
	for _, c := range []struct {
		lines    string
		reported int    // ticks
		fault    string // "": none
	}{
		{"tick 1 7|tick 1 7|tick 2 8|status true 1 2 0|wait|closed", 3, ""},
		{"tick 1 7|tick 1 8", 2, "tick 1 has digest"},
		{"status true 1 2 0|tick 1 7|tick 1 8", 2, "tick 1 has digest"},
		{"fail the state differs", 0, `n0 says "fail the state differs"`},
		{"tick one", 0, `n0 says "tick one"`},
		{"status true", 0, `n0 says "status true"`},
		{"ti", 0, `n0 says "ti"`},
	} {
		f, n := newTestRun(), &localnet.Member{Name: "n0"}
		for line := range strings.SplitSeq(c.lines, "|") {
			f.receive(n, line)
		}
		found := f.auditor.Findings()
		if found.Reported != c.reported || f.Bad() != (c.fault != "") || !strings.Contains(strings.Join(f.Faults(), "\n"), c.fault) {
			t.Errorf("%s: %+v, want %d ticks and %q", c.lines, found, c.reported, c.fault)
		}
	}
}
