package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"handloom/internal/cli"
	"handloom/internal/report"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/mutants"
)

//go:embed testdata/faults/*.patch
var patches embed.FS

func knownFaults() ([]*mutants.Fault, error) {
	folder, err := fs.Sub(patches, "testdata/faults")
	if err != nil {
		return nil, err
	}
	return mutants.Load(folder)
}

// all selects the faults that programs find within a smoke run, rare all
// others.
const (
	allFaults  = "all"
	rareFaults = "rare"
)

func chooseFaults(name string) ([]*mutants.Fault, error) {
	known, err := knownFaults()
	if err != nil {
		return nil, err
	}
	var names []string
	chosen := slices.DeleteFunc(known, func(f *mutants.Fault) bool {
		names = append(names, f.Name)
		common := !f.Rare && f.Test == ""
		return name != f.Name && !(name == allFaults && common) && !(name == rareFaults && !common)
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no fault is called %q; want %s, %s or one of %s", name, allFaults, rareFaults, strings.Join(names, ", "))
	}
	return chosen, nil
}

func (p *command) withFaults(ctx context.Context, h harnessing) int {
	chosen, err := chooseFaults(h.mutant)
	if err != nil {
		return p.misused("", err)
	}
	b, err := newFaultyBuild(ctx, chosen)
	if err != nil {
		return p.failed("", err)
	}
	defer b.remove()
	if h.program == "" {
		return p.runMutants(ctx, h, b, chosen)
	}
	if h.command, err = b.player(ctx, chosen[0]); err != nil {
		return p.failed("", err)
	}
	return p.playProgram(ctx, h)
}

func (p *command) runMutants(ctx context.Context, h harnessing, b *faultyBuild, chosen []*mutants.Fault) int {
	f := p.follow("seeded faults", h.line())
	var all mutationRuns
	for _, fault := range chosen {
		f.notify(fault.Name + ": " + fault.About)
		all = append(all, h.try(ctx, b, fault, f.notify))
	}
	fmt.Fprintln(p.stdout)
	all.table().WriteTo(p.stdout)
	fmt.Fprintln(p.stdout)
	o := all.verdict(ctx.Err() != nil)
	o.Exit = bySignal(ctx, o.Exit)
	return p.end(f, o)
}

type mutationRuns []mutationRun

func (all mutationRuns) table() *report.Table {
	table := report.NewTable("fault", "found as", "operations", "after", "seed", " ")
	table.Left(" ")
	for _, t := range all {
		table.Row(t.fault.Name, t.outcome(), t.operations, report.Duration(t.after), t.seed, t.what)
	}
	return table
}

// A fault not tried is not missed.
func (all mutationRuns) verdict(interrupted bool) cli.Verdict {
	var missed []string
	var stopped error
	for _, t := range all {
		switch {
		case t.err != nil:
			stopped = cmp.Or(stopped, fmt.Errorf("%s: %w", t.fault.Name, t.err))
		case t.as == "":
			missed = append(missed, t.fault.Name)
		}
	}
	switch {
	case interrupted:
		return cli.NewVerdict("interrupted", campaign.ExitInterrupted, "not every fault was tried")
	case stopped != nil:
		return cli.NewVerdict("inconclusive", campaign.ExitInconclusive, shortened(stopped.Error(), 200))
	case len(missed) > 0:
		return cli.NewVerdict("canary-missed", campaign.ExitMutantMissed, strings.Join(missed, ", "))
	}
	return cli.NewVerdict("passed", campaign.ExitPassed, fmt.Sprintf("%d of %d seeded faults found", len(all), len(all)))
}

func shortened(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
