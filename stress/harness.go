package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/internal/report"
	models "handloom/proof/model"
	"handloom/proof/runner"
	"handloom/stress/internal/campaign"
)

func (p *command) harness(ctx context.Context, args []string) int {
	h, err := parseHarness(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.help([]string{"profile"})
	case err != nil:
		return p.misused("", err)
	}
	command, err := p.children()
	if err != nil {
		return p.failed("", err)
	}
	h.command, h.build = command, cli.BuildFlags()
	switch {
	case h.mutant != "":
		return p.withFaults(ctx, h)
	case h.program != "":
		return p.playProgram(ctx, h)
	}
	return p.campaign(ctx, h)
}

// children returns the command of children: this program.
func (p *command) children() (campaign.Command, error) {
	path, err := os.Executable()
	return campaign.NewCommand(path), err
}

// smoke follows the replay of the embedded trace.
func (p *command) smoke(ctx context.Context, replayed int) int {
	if !p.smokes || replayed != exitVerified {
		return replayed
	}
	fmt.Fprintln(p.stdout)
	return p.harness(ctx, []string{"-profile", "smoke"})
}

func (p *command) campaign(ctx context.Context, h harnessing) int {
	profile, _ := campaign.Find(h.profile)
	known, err := knownPrograms()
	if err != nil {
		return p.failed("", err)
	}
	if h.seeds > 0 {
		known = nil // -seeds excludes known programs
	}
	f := p.follow(h.title(profile), h.line())
	done := campaign.Run(ctx, campaign.Options{
		Profile: profile, Seed: h.seed, Seeds: h.seeds, Duration: h.lasts(profile.Duration), Known: known,
		How: h.how(), Revision: cli.Revision(), Progress: f.notify,
	})
	if h.seeds > 0 || h.duration > 0 {
		profile.Promises = nil // promised states need the whole profile
	}
	verdict, exit, reason := done.Verdict(profile.Promises, ctx.Err() != nil)
	p.printSeen(p.stdout, done)
	if done.Failure != nil {
		p.explain(ctx, h, done.Failure)
	}
	return p.end(f, cli.NewVerdict(verdict, bySignal(ctx, exit), reason))
}

func (p *command) printSeen(out io.Writer, o *campaign.Outcome) {
	seen, least := o.Rare(6)
	fmt.Fprintf(out, "\nrare states: %d of %d came up; least often %s\n", seen, len(models.AllSeen()), strings.Join(least, ", "))
}

func (p *command) playProgram(ctx context.Context, h harnessing) int {
	prog, err := loadProgram(h.program)
	if err != nil {
		return p.bad(err)
	}
	if len(prog.Configs) == 0 {
		prog.Configs = defaultConfigs(prog.Seed)
	}
	f := p.follow("program "+h.program, h.line())
	failure, done, err := campaign.Again(ctx, prog, h.how())
	done.Failure, done.Err = failure, err
	verdict, exit, reason := done.Verdict(nil, ctx.Err() != nil)
	if failure != nil {
		p.explain(ctx, h, failure)
	}
	return p.end(f, cli.NewVerdict(verdict, bySignal(ctx, exit), reason))
}

const shrinkTime = time.Minute

func (p *command) explain(ctx context.Context, h harnessing, failure *campaign.Failure) {
	out := p.stdout
	fmt.Fprintf(out, "\nFAIL %s: seed %d, at %q\n%s\n", failure.Kind, failure.Program.Seed, failure.Line, failure.What)
	small := failure
	if (h.shrink || h.program == "") && ctx.Err() == nil {
		fmt.Fprintf(out, "\nshrinking %s operations for %v at most ...\n", report.Count(failure.Program.Len()), shrinkTime)
		limited, cancel := context.WithTimeout(ctx, shrinkTime)
		small = campaign.Shrink(limited, failure, h.how())
		cancel()
		fmt.Fprintf(out, "%s operations are left:\n\n%s\n", report.Count(small.Program.Len()), small.Program.Text())
		fmt.Fprintf(out, "at %q\n%s\n\n", small.Line, firstLines(small.What, 12))
	}
	kept := keep(h, failure, small)
	if err := p.again(ctx, h, small, &kept); err != nil {
		kept.faults = append(kept.faults, err)
	}
	for _, err := range kept.faults {
		p.bad(fmt.Errorf("stress: an artifact is missing: %w", err))
	}
	fmt.Fprint(out, kept.text())
}

func (p *command) again(ctx context.Context, h harnessing, small *campaign.Failure, kept *artifacts) error {
	if kept.program == "" || small.Kind == runner.Race || ctx.Err() != nil {
		return nil
	}
	again, _, err := campaign.Again(ctx, small.Program, h.how())
	kept.chance = err == nil && again == nil
	return err
}

func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	if len(lines) > n {
		lines[n] = "..."
	}
	return strings.Join(lines, "\n")
}
