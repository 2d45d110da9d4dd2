package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handloom/internal/report"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/mutants"
)

type mutationRun struct {
	fault      *mutants.Fault
	as         string // kind of the failure, or "test"; "": not found
	what       string // finding
	operations string
	seed       string
	after      time.Duration // without the build
	err        error         // reason why the fault was not tried
}

func (t *mutationRun) outcome() string {
	if t.err != nil {
		return "not tried"
	}
	return cmp.Or(t.as, "missed")
}

func (h *harnessing) try(ctx context.Context, b *faultyBuild, fault *mutants.Fault, progress func(string)) mutationRun {
	t := mutationRun{fault: fault, operations: "-", seed: "-"}
	if fault.Test != "" {
		t.byTest(ctx, b)
		return t
	}
	command, err := b.player(ctx, fault)
	if err != nil {
		t.err = err
		return t
	}
	name, lasts := "smoke", 20*time.Second
	if fault.Rare {
		name, lasts = "pr", 3*time.Minute
	}
	profile, _ := campaign.Find(name)
	h.byPrograms(ctx, &t, campaign.Options{
		Name: fault.Name + ": ", Profile: profile, Seed: h.seed, Seeds: h.seeds, Duration: h.lasts(lasts),
		How: campaign.How{Command: command}, Progress: progress,
	})
	return t
}

func (t *mutationRun) byTest(ctx context.Context, b *faultyBuild) {
	begun := time.Now()
	found, err := t.fault.FailsTest(ctx, b.root, b.overlay)
	if t.after, t.err = time.Since(begun), err; found {
		t.as, t.what = "test", t.fault.Test+" of "+t.fault.Package
	}
}

// byPrograms plays random programs. It repeats the failing program without the
// fault; a second failure is not due to the fault.
func (h *harnessing) byPrograms(ctx context.Context, t *mutationRun, o campaign.Options) {
	begun := time.Now()
	done := campaign.Run(ctx, o)
	t.after, t.operations = time.Since(begun), report.Count(done.Operations)
	found := done.Failure
	if found == nil {
		t.err = done.Err
		return
	}
	t.as, t.what = string(found.Kind), shortened(found.What, 60)
	t.seed, t.operations = fmt.Sprint(found.Program.Seed), report.Count(found.Found)
	t.err = h.control(ctx, found)
}

func (h *harnessing) control(ctx context.Context, found *campaign.Failure) error {
	f, _, err := campaign.Again(ctx, found.Program, campaign.How{Command: h.command})
	if f != nil {
		return fmt.Errorf("seed %d fails without the fault, too: %w", found.Program.Seed, f)
	}
	return err
}

type faultyBuild struct {
	root    string // the module's folder
	dir     string // temporary folder
	overlay string
	built   campaign.Command
}

func newFaultyBuild(ctx context.Context, all []*mutants.Fault) (*faultyBuild, error) {
	root, err := mutants.Root(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "handloom-stress-")
	if err != nil {
		return nil, err
	}
	b := &faultyBuild{root: root, dir: dir}
	if b.overlay, err = mutants.Overlay(all, root, dir); err != nil {
		b.remove()
		return nil, err
	}
	return b, nil
}

func (b *faultyBuild) remove() { os.RemoveAll(b.dir) }

func (b *faultyBuild) player(ctx context.Context, f *mutants.Fault) (campaign.Command, error) {
	if b.built.Path == "" {
		path := filepath.Join(b.dir, "with-faults")
		build := exec.CommandContext(ctx, "go", "build", "-overlay", b.overlay, "-o", path, "handloom/stress")
		build.Dir = b.root
		if out, err := build.CombinedOutput(); err != nil {
			return campaign.Command{}, fmt.Errorf("go build with faults: %w: %s", err, strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "; "))
		}
		b.built = campaign.NewCommand(path)
	}
	with := b.built
	with.Env = append(slices.Clone(with.Env), mutants.Variable+"="+f.Name)
	return with, nil
}
