package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"handloom/internal/report"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/child"
	"handloom/stress/internal/faults"
	"handloom/stress/internal/feed"
)

// patches are the faults that there are.
//
//go:embed testdata/faults/*.patch
var patches embed.FS

func knownFaults() ([]*faults.Fault, error) {
	folder, err := fs.Sub(patches, "testdata/faults")
	if err != nil {
		return nil, err
	}
	return faults.Load(folder)
}

// Words for many faults: those that programs find within the time of a smoke run,
// and all others.
const (
	allFaults  = "all"
	rareFaults = "rare"
)

// chooseFaults returns the fault of a name, or those that a word stands for.
func chooseFaults(name string) ([]*faults.Fault, error) {
	known, err := knownFaults()
	if err != nil {
		return nil, err
	}
	var names []string
	chosen := slices.DeleteFunc(known, func(f *faults.Fault) bool {
		names = append(names, f.Name)
		common := !f.Rare && f.Test == ""
		return name != f.Name && !(name == allFaults && common) && !(name == rareFaults && !common)
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no fault is called %q; want %s, %s or one of %s", name, allFaults, rareFaults, strings.Join(names, ", "))
	}
	return chosen, nil
}

// canaries tries faults, one after another, and sees that each is found.
func (p *program) canaries(ctx context.Context, h harnessing) int {
	chosen, err := chooseFaults(h.canary)
	if err != nil {
		return p.misused("", err)
	}
	w, err := newWorkshop(ctx)
	if err != nil {
		return p.failed("", err)
	}
	defer w.close()
	f, err := p.follow(h.outputs)
	if err != nil {
		return p.failed("", err)
	}
	f.begin(feed.Start{Title: "seeded faults", Command: h.line(), Unit: "operations", Details: h.details()})
	table := report.NewTable("fault", "found as", "operations", "after", "seed", " ")
	var facts []feed.Fact
	var missed []string
	var stopped error
	for _, fault := range chosen {
		t := h.try(ctx, w, fault, f.Feed)
		switch {
		case t.err != nil:
			stopped = cmp.Or(stopped, fmt.Errorf("%s: %w", fault.Name, t.err))
			t.as = "not tried"
		case t.as == "":
			missed = append(missed, fault.Name)
			t.as = "missed"
		}
		table.Row(fault.Name, t.as, t.operations, report.Duration(t.after), t.seed, t.what)
		facts = append(facts, feed.Fact{Name: fault.Name, Value: fmt.Sprintf("%s Found as: %s, %s; operations %s, after %s, seed %s",
			fault.About, t.as, cmp.Or(t.what, "-"), t.operations, report.Duration(t.after), t.seed)})
	}
	fmt.Fprintln(f.human)
	table.WriteTo(f.human)
	fmt.Fprintln(f.human)
	verdict := canaryVerdict(len(chosen), missed, stopped, ctx.Err() != nil)
	verdict.Totals = facts
	return p.end(ctx, f, verdict)
}

// trial is what came of one fault.
type trial struct {
	as         string // the kind of the failure, or "test"; "": it was not found
	what       string // was not as it must be
	operations string
	seed       string
	after      time.Duration // without the build
	err        error
}

// try builds with a fault and plays programs drawn at random, and no others, or
// runs the test that finds it.
func (h *harnessing) try(ctx context.Context, w *workshop, fault *faults.Fault, to *feed.Feed) trial {
	t := trial{operations: "-", seed: "-"}
	to.Progress(fault.Name + ": " + fault.About)
	if fault.Test != "" {
		begun := time.Now()
		found, err := w.test(ctx, fault)
		t.after, t.err = time.Since(begun), err
		if found {
			t.as, t.what = "test", fault.Test+" of "+fault.Package
		}
		return t
	}
	command, err := w.build(ctx, fault)
	if err != nil {
		t.err = err
		return t
	}
	profile, _ := campaign.Find("smoke")
	lasts := profile.Duration
	if fault.Rare {
		profile, _ = campaign.Find("pr")
		lasts = 3 * time.Minute
	}
	begun := time.Now()
	o := campaign.Run(ctx, campaign.Options{
		Name: fault.Name + ": ", Profile: profile, Seed: h.seed, Seeds: h.seeds, Duration: h.lasts(lasts),
		Command: command, Children: h.children, Feed: to,
	})
	t.after, t.operations = time.Since(begun), report.Count(o.Operations)
	if o.Failure == nil {
		t.err = o.Err
		return t
	}
	t.as, t.seed, t.operations = string(o.Failure.Kind), fmt.Sprint(o.Failure.Program.Seed), report.Count(o.Failure.Found)
	t.what, t.err = shortened(o.Failure.What, 60), h.control(ctx, o.Failure)
	return t
}

// control plays the program that has found a fault without it. What fails there, too,
// says nothing about the fault.
func (h *harnessing) control(ctx context.Context, found *campaign.Failure) error {
	f, _, err := campaign.Again(ctx, found.Program, campaign.How{Command: h.command})
	if f != nil {
		return fmt.Errorf("seed %d fails without the fault, too: %w", found.Program.Seed, f)
	}
	return err
}

// shortened returns the first line of s, and of that n runes at most.
func shortened(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

// canaryVerdict is the verdict on n faults of which some were missed. stopped is why
// one could not be tried: it is not missed then.
func canaryVerdict(n int, missed []string, stopped error, interrupted bool) feed.Verdict {
	switch {
	case interrupted:
		return feed.Verdict{Verdict: "interrupted", ExitCode: campaign.ExitInterrupted, Reason: "not every fault was tried"}
	case stopped != nil:
		return feed.Verdict{Verdict: "inconclusive", ExitCode: campaign.ExitInconclusive, Reason: shortened(stopped.Error(), 200)}
	case len(missed) > 0:
		return feed.Verdict{Verdict: "canary-missed", ExitCode: campaign.ExitCanaryMissed, Reason: strings.Join(missed, ", ")}
	}
	return feed.Verdict{Verdict: "passed", Reason: fmt.Sprintf("%d of %d seeded faults found", n, n)}
}

// workshop is where builds with faults are made.
type workshop struct {
	root string // folder of the module
	dir  string // temporary
}

func newWorkshop(ctx context.Context) (*workshop, error) {
	root, err := faults.Root(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "handloom-stress-")
	return &workshop{root, dir}, err
}

func (w *workshop) close() { os.RemoveAll(w.dir) }

// build returns how a player with a fault is started.
func (w *workshop) build(ctx context.Context, f *faults.Fault) (child.Command, error) {
	overlay, err := f.Overlay(w.root, w.dir)
	if err != nil {
		return child.Command{}, err
	}
	return campaign.Build(ctx, campaign.Arm{Name: f.Name, Flags: []string{"-overlay", overlay}}, w.dir)
}

// test reports whether the test of a fault fails with the fault.
func (w *workshop) test(ctx context.Context, f *faults.Fault) (found bool, err error) {
	overlay, err := f.Overlay(w.root, w.dir)
	if err != nil {
		return false, err
	}
	return f.FailsTest(ctx, w.root, overlay)
}
