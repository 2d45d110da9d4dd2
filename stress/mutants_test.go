package main

import (
	"path/filepath"
	"strings"
	"testing"

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
	stress(t, "-canary", "lifo").want(t, exitBad, "there is no Go toolchain")
}

func TestMutants_SelectedByWord(t *testing.T) {
	all, err := chooseFaults(allFaults)
	noError(t, err)
	rare, err := chooseFaults(rareFaults)
	noError(t, err)
	known, err := knownFaults()
	if err != nil || len(all) < 50 || len(all)+len(rare) != len(known) {
		t.Errorf("%d and %d of %d faults, %v", len(all), len(rare), len(known), err)
	}
}

func TestMutant_UnknownNameIsWrongUsage(t *testing.T) {
	got := stress(t, "-canary", "budgie")
	if want := `stress: no fault is called "budgie"; want all, rare or one of answer-computed-again, `; got.code != exitBad || !strings.HasPrefix(got.stderr, want) {
		t.Errorf("%+v", got)
	}
}
