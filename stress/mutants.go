package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"handloom/internal/report"
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

// all selects the faults that random programs find, rare all others.
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
		common := f.Test == mutants.Programs
		return name != f.Name && !(name == allFaults && common) && !(name == rareFaults && !common)
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("stress: no fault is called %q; want %s, %s or one of %s", name, allFaults, rareFaults, strings.Join(names, ", "))
	}
	return chosen, nil
}

// seededFaults runs the test of each fault, in a build with the fault.
func (p *command) seededFaults(ctx context.Context, o options) int {
	chosen, err := chooseFaults(o.canary)
	if err != nil {
		return p.bad(err)
	}
	p.begin("seeded faults", again(o.args...))
	b, err := mutants.NewBuild(ctx, chosen)
	if err != nil {
		return p.bad(fmt.Errorf("stress: %w", err))
	}
	defer b.Remove()
	table := report.NewTable("fault", "found", "after", "by", " ")
	table.Left("by", " ")
	var missed []string
	var stopped error
	for _, fault := range chosen {
		p.notify("%s: %s", fault.Name, fault.About)
		finding, took, err := b.Find(ctx, fault)
		found, by := "yes", fault.Test+" of "+fault.Package
		if fault.Test == mutants.Programs {
			by = "programs"
		}
		switch {
		case err != nil:
			found, stopped = "not tried", cmp.Or(stopped, fmt.Errorf("%s: %w", fault.Name, err))
		case finding == "":
			found, missed = "missed", append(missed, fault.Name)
		}
		table.Row(fault.Name, found, report.Duration(took), by, shortened(finding, 80))
	}
	fmt.Fprintln(p.stdout)
	table.WriteTo(p.stdout)
	fmt.Fprintln(p.stdout)
	switch {
	case ctx.Err() != nil:
		return p.end(ctx, "interrupted", exitInterrupted, "not every fault was tried")
	case stopped != nil:
		return p.end(ctx, "inconclusive", exitInconclusive, shortened(stopped.Error(), 200))
	case len(missed) > 0:
		return p.end(ctx, "canary-missed", exitFaultMissed, strings.Join(missed, ", "))
	}
	return p.end(ctx, "passed", exitPassed, fmt.Sprintf("%d of %d seeded faults found", len(chosen), len(chosen)))
}

func shortened(s string, n int) string {
	if r := []rune(firstLine(s)); len(r) > n {
		return string(r[:n]) + "..."
	}
	return firstLine(s)
}
