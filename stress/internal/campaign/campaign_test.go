package campaign

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"handloom/proof/model"
	"handloom/proof/runner"
)

func TestVerdict_FailureOutweighsOthers(t *testing.T) {
	failed := &Failure{Failure: runner.Failure{Kind: runner.Forged, What: "a handle\nstack"}}
	seen := Outcome{Programs: 3}
	seen.Seen.See(model.Depletion)
	promises := []model.Seen{model.Depletion}
	tests := []struct {
		name        string
		o           Outcome
		interrupted bool
		verdict     string
		exit        int
		reason      string
	}{
		{"failure", Outcome{Failure: failed, Err: errors.New("x")}, true, "forged", ExitForged, "a handle"},
		{"error", Outcome{Programs: 1, Err: errors.New("no process\nmore")}, true, "inconclusive", ExitInconclusive, "no process"},
		{"interrupt", Outcome{}, true, "interrupted", ExitInterrupted, "nothing failed so far: "},
		{"nothing played", Outcome{}, false, "inconclusive", ExitInconclusive, "no program was played"},
		{"never seen", Outcome{Programs: 1}, false, "never-seen", ExitNeverSeen, "nothing failed, but promised states never came up: depletion"},
		{"passed", seen, false, "passed", ExitPassed, "programs 3, "},
	}
	for _, tt := range tests {
		verdict, exit, reason := tt.o.Verdict(promises, tt.interrupted)
		if verdict != tt.verdict || exit != tt.exit || !strings.HasPrefix(reason, tt.reason) || strings.Contains(reason, "\n") {
			t.Errorf("%s: %q, %d, %q; want %q, %d, %q", tt.name, verdict, exit, reason, tt.verdict, tt.exit, tt.reason)
		}
	}
}

func TestExit_CoversEveryKind(t *testing.T) {
	codes := make(map[int]bool)
	for _, k := range []runner.Kind{
		runner.Model, runner.Invariant, runner.Determinism, runner.Liveness, runner.Leak, runner.Limit, runner.Forged, runner.Race,
	} {
		if code := Exit(k); code < 10 || codes[code] {
			t.Errorf("%s has exit code %d", k, code)
		}
		codes[Exit(k)] = true
	}
}

func TestRun_MissingProgramIsInconclusive(t *testing.T) {
	profile, _ := Find("smoke")
	o := Run(t.Context(), Options{Profile: profile, Seeds: 3})
	if verdict, _, _ := o.Verdict(nil, false); verdict != "inconclusive" || o.Err == nil {
		t.Errorf("%s, %v", verdict, o.Err)
	}
}

func TestRun_PlaysNothingAfterItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o := Run(ctx, Options{}); o.Programs != 0 || o.Err != nil || o.Failure != nil {
		t.Errorf("%+v", o)
	}
}

func TestOutcome_AddsEveryCount(t *testing.T) {
	var o Outcome
	for range 2 {
		one := Outcome{Programs: 1, Plays: 2, Operations: 3, Flushes: 4, Repeated: 5}
		one.Seen.See(model.Depletion)
		o.add(&one)
	}
	want := Outcome{Programs: 2, Plays: 4, Operations: 6, Flushes: 8, Repeated: 10}
	want.Seen.See(model.Depletion)
	want.Seen.See(model.Depletion)
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got %+v; want %+v", o, want)
	}
}
