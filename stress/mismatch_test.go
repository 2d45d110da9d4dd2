package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"handloom/internal/trace"
)

const someTicks = "C 0 1 C 0 2 T U 0 1 C 1 1 T E 0 2 U 1 1 T U 0 1 T"

// If all players but one miss an event, digests differ. If all miss it, only
// the model differs.
func TestReplay_FindsMissedEvents(t *testing.T) {
	tests := []struct {
		kind  trace.Kind
		lost  string
		where int
	}{
		{trace.Create, `tick 2: workers 1: table 1: the flush reports nothing of it; want .*created:1.*`, 2},
		{trace.Update, `tick 2: workers 1: table 0: the flush reports nothing of it; want .*put:1.*`, 2},
		{trace.Erase, `tick 3: workers 1: table 0: the flush reports nothing of it; want .*erased:1.*`, 3},
	}
	for _, tt := range tests {
		for _, all := range []bool{false, true} {
			p := command{stdin: bytes.NewReader(lines(someTicks))}
			p.fault = func(workers, tick int, e trace.Event) bool {
				return tick > 1 && e.Kind == tt.kind && (all || workers == 4)
			}
			want := tt.lost
			if !all {
				want = fmt.Sprintf("tick %d: workers 1 have digest [0-9a-f]{16}, workers 4 have [0-9a-f]{16}", tt.where)
			}
			got := p.stress(t.Context(), "replay", "-")
			line := regexp.MustCompile(`^verdict: mismatch \(exit code 10\): ` + want + "$")
			if got.code != exitMismatch || !line.MatchString(got.lastLine()) {
				t.Errorf("missed %v (all %v): exit code %d, %s\nwant 1, %v", tt.kind, all, got.code, got.lastLine(), line)
			}
		}
	}
}

func TestReplay_PrintsAllMismatches(t *testing.T) {
	p := command{stdin: bytes.NewReader(lines(someTicks))}
	p.fault = func(workers, _ int, e trace.Event) bool { return workers == 8 && e.Kind == trace.Erase }
	got := p.stress(t.Context(), "replay", "-", "-workers", "2,8")
	if got.want(t, exitMismatch, "\nmismatch: tick 3: workers 8: "); strings.Count(got.stdout, "\nmismatch: tick 3: ") != 2 {
		t.Errorf("got %s", got.stdout)
	}
}

// The state is changed outside the player.
func TestChecks_FindSpoiledState(t *testing.T) {
	first := name{0, 1}
	spoil := map[string]func(p *player){
		"a pass sums up":               func(p *player) { p.tables[0].sums.Versions++ },
		"and its handle finds nothing": func(p *player) { clear(p.parts[first.task()].held) },
		"want {Key:1 ": func(p *player) {
			it, _ := p.byTable[0].items.Get(p.parts[first.task()].held[first].handle)
			it.Version++
		},
		"slots are depleted": func(p *player) { p.depleted++ },
		"the epoch is":       func(p *player) { p.epochs++ },
	}
	for want, f := range spoil {
		var err error
		r := begun(t, "spoiled", []int{1}, 1)
		r.onTick = func(r *replay) {
			if r.model.tick == 4 {
				f(r.players[0])
				err = checkTick(r.model, r.players[0])
			}
		}
		noError(t, r.run(t.Context(), bytes.NewReader(lines(someTicks))))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the check says %v; want %q", err, want)
		}
		if len(r.mismatches) == 0 {
			t.Errorf("%s: the check of everything at the end finds nothing", want)
		}
	}
}
