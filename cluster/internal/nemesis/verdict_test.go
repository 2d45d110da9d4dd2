package nemesis

import (
	"io"
	"strings"
	"testing"

	"handloom/cluster/internal/localnet"
	"handloom/world"
)

func newTestRun() *run {
	r := newRun(Options{Seed: 1})
	r.attach(&Fleet{Fleet: &localnet.Fleet{Options: localnet.Options{Out: io.Discard}}})
	return r
}

func TestReceive_ReportsToAuditor(t *testing.T) {
	for _, c := range []struct {
		lines    string
		reported int    // ticks
		fault    string // "": none
	}{
		{`tick 1 7|tick 1 7|tick 2 8|listen|{"Cell":1,"World":{"leader":true}}`, 3, ""},
		{"tick 1 7|tick 1 8", 2, "tick 1 has digest"},
		{"fail the state differs", 0, `n0 says "fail the state differs"`},
		{"tick one", 0, `n0 says "tick one"`},
		{`listen|{"Cell":1,"Err":"` + world.ErrDiverged.Error() + `"}`, 0, "the state differs"},
		{`{"Cell":1`, 0, `n0 says "{`},
		{"ti", 0, `n0 says "ti"`},
	} {
		f, n := newTestRun(), &localnet.Member{Name: "n0"}
		for line := range strings.SplitSeq(c.lines, "|") {
			f.receive(n, line)
		}
		found := f.auditor.Findings()
		if found.Reported != c.reported || f.Bad() != (c.fault != "") || !strings.Contains(strings.Join(f.Faults(), "\n"), c.fault) {
			t.Errorf("%s: %+v and %q, want %d ticks and %q", c.lines, found, f.Faults(), c.reported, c.fault)
		}
	}
}
