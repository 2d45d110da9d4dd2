package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"handloom/proof/runner"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/mutants"
)

// A patch without its place fails here, not after minutes of a run.
func TestMutants_Apply(t *testing.T) {
	known, err := knownFaults()
	noError(t, err)
	root, err := filepath.Abs("..")
	noError(t, err)
	_, err = mutants.Overlay(known, root, t.TempDir())
	noError(t, err)
}

func TestMutant_NeedsAToolchain(t *testing.T) {
	t.Setenv("PATH", "")
	for _, args := range []string{"-canary lifo", "-canary lifo -program testdata/regress/everything.program"} {
		stress(t, strings.Fields(args)...).want(t, exitBad, "there is no Go toolchain")
	}
}

func TestMutants_SelectedByWord(t *testing.T) {
	all, err := chooseFaults(allFaults)
	if err != nil || len(all) < 24 {
		t.Errorf("%d faults, %v", len(all), err)
	}
	rare, err := chooseFaults(rareFaults)
	noError(t, err)
	known, err := knownFaults()
	if err != nil || len(all)+len(rare) != len(known) {
		t.Errorf("%d and %d of %d faults, %v", len(all), len(rare), len(known), err)
	}
	if one, err := chooseFaults("lifo"); err != nil || len(one) != 1 || one[0].Name != "lifo" {
		t.Errorf("%v, %v", one, err)
	}
}

func TestMutant_UnknownNameIsWrongUsage(t *testing.T) {
	stress(t, "-canary", "budgie").want(t, exitBad, `no fault is called "budgie"; want all, rare or one of answer-computed-again, `)
}

func TestMutant_ControlRunsWithoutTheFault(t *testing.T) {
	command, err := new(command).children()
	noError(t, err)
	h := harnessing{command: command}
	for word, fails := range map[string]bool{runner.Misuses()[0]: false, runner.Crash: true} {
		prog, err := loadProgram(faultyProgram(t, word))
		noError(t, err)
		prog.Configs = defaultConfigs(prog.Seed)[:1]
		if err := h.control(t.Context(), &campaign.Failure{Program: prog}); (err != nil) != fails {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestMutationRuns_UntriedIsNotMissed(t *testing.T) {
	fault := &mutants.Fault{Name: "a"}
	found, missed, stopped := mutationRun{fault: fault, as: "model"}, mutationRun{fault: fault}, mutationRun{fault: fault, err: errors.New("no process")}
	for _, tt := range []struct {
		runs        mutationRuns
		interrupted bool
		exit        int
	}{
		{mutationRuns{found, found}, false, campaign.ExitPassed},
		{mutationRuns{found, missed}, false, campaign.ExitMutantMissed},
		{mutationRuns{found, stopped}, false, campaign.ExitInconclusive},
		{mutationRuns{missed, stopped}, false, campaign.ExitInconclusive},
		{mutationRuns{missed}, true, campaign.ExitInterrupted},
	} {
		if v := tt.runs.verdict(tt.interrupted); v.Exit != tt.exit {
			t.Errorf("%v, interrupted %v: %+v; want exit code %d", tt.runs, tt.interrupted, v, tt.exit)
		}
	}
}
