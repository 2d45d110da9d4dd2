package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handloom/internal/cli"
	"handloom/proof/model"
	"handloom/proof/runner"
)

func TestRegressions(t *testing.T) {
	known, err := knownPrograms()
	if err != nil || len(known) == 0 {
		t.Fatalf("%d programs, %v", len(known), err)
	}
	for i, p := range known {
		if r := runner.Under(t.Context(), p, append(p.Configs, defaultConfigs(p.Seed)...)...); r.Failure != nil {
			t.Errorf("program %d: %v\n%s", i, r.Failure, p.Text())
		}
	}
}

func TestRegressions_ReachTheStateInTheirName(t *testing.T) {
	for _, state := range model.AllSeen() {
		text, err := regress.ReadFile("testdata/regress/" + state.String() + programSuffix)
		noError(t, err)
		p, err := parseProgram(text, state.String())
		noError(t, err)
		if r := runner.Play(t.Context(), p, defaultConfigs(p.Seed)[0]); r.Seen[state] == 0 {
			t.Errorf("the regression %v does not come to it", state)
		}
	}
}

func TestFirstLine_RepeatsARun(t *testing.T) {
	run := stress(t, "-seeds", "20", "-seed", "7")
	first, _, _ := strings.Cut(run.stdout, "\n")
	if want := again("-seeds", "20", "-seed", "7"); first != want {
		t.Errorf("the first line is %q; want %q", first, want)
	}
	run.want(t, exitPassed, "verdict: passed (exit code 0): programs 20, ", "rare states: ")
	if again := stress(t, strings.Fields(strings.TrimPrefix(first, again()))...); again.stdout != run.stdout {
		t.Errorf("got\n%s\nand then\n%s", run.stdout, again.stdout)
	}
}

// Seed 0 is valid; without -seed the seed is random.
func TestSeed_ZeroIsKept(t *testing.T) {
	o, err := parse([]string{"-seed", "0", "-seeds", "1"})
	if err != nil || o.seed != 0 || !strings.Contains(again(o.args...), " -seed 0 ") {
		t.Errorf("seed %d, %q, %v", o.seed, again(o.args...), err)
	}
	if o, err := parse([]string{"-seeds", "1"}); err != nil || o.seed == 0 || !strings.HasSuffix(again(o.args...), fmt.Sprint(" -seeds 1 -seed ", o.seed)) {
		t.Errorf("without -seed: %d, %v", o.seed, err)
	}
}

func faultyProgram(t *testing.T, word string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), word+".program")
	text := "handloom-stress 1\nseed 9\ntable a packed word\nconfig workers=1\nconfig workers=2\ndo\nflush\nwrite\n  insert a %1\nend\nmisuse " + word + "\nflush\n"
	writeFile(t, file, []byte(text))
	return file
}

func TestFailure_IsShrunkAndKept(t *testing.T) {
	for word, want := range map[string]struct {
		exit int
		what string
	}{
		runner.Chance: {12, "determinism (exit code 12): workers=1 and "},
		runner.Stray:  {15, "leak (exit code 15): "},
	} {
		file := faultyProgram(t, word)
		dir := filepath.Dir(file)
		got := stress(t, "-program", file, "-artifacts", dir)
		got.want(t, want.exit, "verdict: "+want.what, "play it again: "+again()+" -program ")
		small := readFile(t, filepath.Join(dir, word+"-again.program"))
		if p, err := parseProgram(small, "small"); err != nil || p.Len() != 1 {
			t.Errorf("%v, it is\n%s", err, small)
		}
	}
}

// Its goroutine stays, as does the program until the process ends.
func TestProgram_HangIsAVerdict(t *testing.T) {
	file := faultyProgram(t, runner.Hang)
	p := command{patience: 100 * time.Millisecond}
	p.stress(t.Context(), "-program", file, "-artifacts", filepath.Dir(file)).want(t, 14, "verdict: liveness (exit code 14): ", "goroutine ")
}

// The disk may be full, or the folder impossible to make.
func TestVerdict_NeedsNoArtifacts(t *testing.T) {
	file := faultyProgram(t, runner.Chance)
	got := stress(t, "-program", file, "-artifacts", filepath.Join(file, "below a file"))
	got.want(t, 12, "an artifact is missing")
}

func TestCampaign_ReportsAfterInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Second, func() { cancel(cli.ErrTerminated) })
	got := command{}.stress(ctx, "-seed", "1", "-duration", "1h")
	got.want(t, cli.ExitTerminated, "verdict: interrupted (exit code 143): nothing failed so far: ", "rare states: ")
}
