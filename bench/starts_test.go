package main

import (
	"io"
	"os"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/suite"
	"handloom/internal/cli"
)

// asProgram makes the test binary the program.
const asProgram = "HANDLOOM_BENCH_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestMeasureStarts_TakesASamplePerProcess(t *testing.T) {
	t.Setenv(asProgram, "1")
	s, err := parse([]string{"-count", "2", "-benchtime", "1ns"})
	if err != nil {
		t.Fatal(err)
	}
	p := &command{settings: s, stderr: io.Discard}
	var cases []measure.Case
	for _, c := range (suite.Options{N: cli.Numbers{50}, Workers: cli.Numbers{1}, Seed: 1}).All() {
		if c.Op == "clear" && c.Impl == "map" {
			cases = append(cases, c)
		}
	}
	all, err := p.measureStarts(t.Context(), cases)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d results, want one per size: %v", len(all), err)
	}
	for _, r := range all {
		if len(r.Samples) != 2 || r.Samples[0].Value <= 0 {
			t.Errorf("%s has the samples %v, want 2", r.Name(), r.Samples)
		}
	}
	cases[0].Impl = "nothing"
	if _, err := p.measureStarts(t.Context(), cases[:1]); err == nil {
		t.Error("a case that the program lacks has samples")
	}
}
