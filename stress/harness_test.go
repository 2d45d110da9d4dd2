package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handloom/internal/cli"
	models "handloom/proof/model"
	"handloom/proof/runner"
	"handloom/stress/internal/campaign"
)

func TestSmoke(t *testing.T) {
	stress(t, "-seed", "1", "-seeds", "40", "-artifacts", t.TempDir()).want(t, campaign.ExitPassed, "verdict: passed (exit code 0): programs 40, ")
}

func TestRegressions(t *testing.T) {
	known, err := knownPrograms()
	if err != nil || len(known) == 0 {
		t.Fatalf("%d programs, %v", len(known), err)
	}
	for i, p := range known {
		if f := runner.Under(t.Context(), p, append(p.Configs, defaultConfigs(p.Seed)...)...); f != nil {
			t.Errorf("program %d: %v\n%s", i, f, p.Text())
		}
	}
}

func TestRegressions_ReachTheStateInTheirName(t *testing.T) {
	for _, state := range models.AllSeen() {
		text, err := regress.ReadFile("testdata/regress/" + state.String() + programSuffix)
		noError(t, err)
		p, err := parseProgram(text, state.String())
		noError(t, err)
		if r := runner.Play(t.Context(), p, defaultConfigs(p.Seed)[0], nil); r.Seen[state] == 0 {
			t.Errorf("the regression %v does not come to it", state)
		}
	}
}

func TestFirstLine_RepeatsARun(t *testing.T) {
	run := stress(t, "-seeds", "2", "-seed", "7")
	first, _, _ := strings.Cut(run.stdout, "\n")
	if want := goRun(cli.BuildFlags()) + " -seeds 2 -seed 7"; run.code != 0 || first != want {
		t.Errorf("exit code %d, the first line is %q; want %q", run.code, first, want)
	}
	again := stress(t, strings.Fields(strings.TrimPrefix(first, goRun(cli.BuildFlags())))...)
	_, states, counted := strings.Cut(run.stdout, "rare states: ")
	_, statesAgain, _ := strings.Cut(again.stdout, "rare states: ")
	if line, _, _ := strings.Cut(again.stdout, "\n"); line != first || again.code != 0 || !counted || states != statesAgain || run.lastLine() != again.lastLine() {
		t.Errorf("exit code %d\n%s\nand then\n%s", again.code, run.stdout, again.stdout)
	}
}

// Seed 0 is valid; without -seed the seed is random.
func TestSeed_ZeroIsKept(t *testing.T) {
	h, err := parseHarness([]string{"-seed", "0", "-seeds", "1"})
	if err != nil || h.seed != 0 || !strings.Contains(h.line(), " -seed 0 ") {
		t.Errorf("seed %d, %q, %v", h.seed, h.line(), err)
	}
	if h, err := parseHarness([]string{"-seeds", "1"}); err != nil || h.seed == 0 || !strings.HasSuffix(h.line(), fmt.Sprint(" -seeds 1 -seed ", h.seed)) {
		t.Errorf("without -seed: %d, %v", h.seed, err)
	}
}

func faultyProgram(t *testing.T, word string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), word+".program")
	text := "handloom-stress 1\nseed 9\ntable a packed word\ndo\nflush\nwrite\n  insert a %1\nend\nmisuse " + word + "\nflush\n"
	writeFile(t, file, []byte(text))
	return file
}

func TestFailure_IsShrunkAndKept(t *testing.T) {
	for word, want := range map[string]struct {
		exit int
		what string
	}{
		runner.Crash:  {campaign.ExitInvariant, "invariant (exit code 11): the process crashed"},
		runner.Chance: {campaign.ExitDeterminism, "determinism (exit code 12): workers=1 and "},
		runner.Stray:  {campaign.ExitLeak, "leak (exit code 15): "},
		runner.Racing: {campaign.ExitRace, "race (exit code 66): a data race"},
	} {
		t.Run(word, func(t *testing.T) {
			if word == runner.Racing && !slices.Contains(cli.BuildFlags(), "-race") {
				t.Skip("the race detector alone sees it")
			}
			t.Parallel()
			file := faultyProgram(t, word)
			dir := filepath.Dir(file)
			got := stress(t, "-program", file, "-shrink", "-artifacts", dir)
			got.want(t, want.exit, "verdict: "+want.what, "play it again: "+goRun(cli.BuildFlags())+" -program ")
			small := readFile(t, filepath.Join(dir, word+"-again.program"))
			if p, err := parseProgram(small, "small"); err != nil || p.Len() != 1 {
				t.Errorf("%v, it is\n%s", err, small)
			}
		})
	}
}

func TestProgram_HangIsAVerdict(t *testing.T) {
	file := faultyProgram(t, runner.Hang)
	prog, err := loadProgram(file)
	noError(t, err)
	prog.Configs = defaultConfigs(9)[:1]
	command, err := new(command).children()
	noError(t, err)
	how := campaign.How{Command: command, Patience: 200 * time.Millisecond}
	f, _, err := campaign.Again(t.Context(), prog, how)
	for ; err != nil && how.Patience < time.Minute; how.Patience *= 4 { // a busy machine has not begun by then
		f, _, err = campaign.Again(t.Context(), prog, how)
	}
	if err != nil || f == nil || f.Kind != runner.Liveness || !strings.Contains(f.What, "goroutine ") {
		t.Errorf("%v, %v", f, err)
	}
}

// The disk may be full, or the folder impossible to make.
func TestVerdict_NeedsNoArtifacts(t *testing.T) {
	file := faultyProgram(t, runner.Crash)
	got := stress(t, "-program", file, "-artifacts", filepath.Join(file, "below a file"))
	got.want(t, campaign.ExitInvariant, "an artifact is missing")
}

func TestCampaign_ReportsAfterInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Second, func() { cancel(cli.ErrTerminated) })
	got := command{}.stress(ctx, "-seed", "1", "-duration", "1h")
	got.want(t, cli.ExitTerminated, "verdict: interrupted (exit code 143): nothing failed so far: ", "rare states: ")
}

func TestMainJob_EndsWithRandomPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it replays the whole trace on one worker")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	code := run(ctx, []string{"-workers", "1"}, strings.NewReader(""), writer(func(b []byte) (int, error) {
		if out.Write(b); strings.Contains(out.String(), "profile smoke: ") {
			cancel()
		}
		return len(b), nil
	}), new(bytes.Buffer))
	if code != exitInterrupted || !strings.Contains(out.String(), "\nthe trace is verified: ") || strings.Count(out.String(), "verdict: ") != 1 {
		t.Errorf("got exit code %d, want %d and one verdict\n%s", code, exitInterrupted, &out)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
