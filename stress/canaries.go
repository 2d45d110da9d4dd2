package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"handloom/internal/canary"
	"handloom/internal/report"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/feed"
)

// canaries turns seeded faults on, one after another, and sees that each is
// found within the time of a smoke run, by programs drawn at random alone.
func (p *program) canaries(ctx context.Context, h harnessing) int {
	if !canary.Enabled {
		return p.failed("", canary.Choose("any"))
	}
	names := []string{h.canary}
	if h.canary == "all" {
		names = nil
		for _, f := range canary.All() {
			names = append(names, f.String())
		}
	} else if err := canary.Choose(h.canary); err != nil {
		return p.misused("", err)
	}
	f, err := p.follow(h.outputs)
	if err != nil {
		return p.failed("", err)
	}
	f.begin(feed.Start{Title: "seeded faults", Command: h.line(), Unit: "operations", Details: h.details()})
	table := report.NewTable("fault", "found as", "operations", "after", "seed")
	var missed []string
	var stopped error
	for _, name := range names {
		profile, _ := campaign.Find("smoke")
		begun := time.Now()
		o := campaign.Run(ctx, campaign.Options{
			Name: name + ": ", Profile: profile, Seed: h.seed, Seeds: h.seeds, Duration: h.lasts(profile.Duration),
			Command: h.command, Children: h.children, Canary: name, Feed: f.Feed,
		})
		switch after := report.Duration(time.Since(begun)); {
		case o.Err != nil && o.Failure == nil:
			stopped = cmp.Or(stopped, fmt.Errorf("%s: %w", name, o.Err))
			table.Row(name, "not tried", report.Count(o.Operations), after, "-")
		case o.Failure != nil:
			table.Row(name, string(o.Failure.Kind), report.Count(o.Failure.Found), after, fmt.Sprint(o.Failure.Program.Seed))
		default:
			missed = append(missed, name)
			table.Row(name, "missed", report.Count(o.Operations), after, "-")
		}
	}
	fmt.Fprintln(f.human)
	table.WriteTo(f.human)
	fmt.Fprintln(f.human)
	return p.end(ctx, f, canaryVerdict(names, missed, stopped, ctx.Err() != nil))
}

// canaryVerdict is the verdict on faults of which some were missed. stopped is why
// one could not be tried: it is not missed then.
func canaryVerdict(names, missed []string, stopped error, interrupted bool) feed.Verdict {
	switch {
	case interrupted:
		return feed.Verdict{Verdict: "interrupted", ExitCode: campaign.ExitInterrupted, Reason: "not every fault was tried"}
	case stopped != nil:
		return feed.Verdict{Verdict: "inconclusive", ExitCode: campaign.ExitInconclusive, Reason: stopped.Error()}
	case len(missed) > 0:
		return feed.Verdict{Verdict: "canary-missed", ExitCode: campaign.ExitCanaryMissed, Reason: strings.Join(missed, ", ")}
	}
	return feed.Verdict{Verdict: "passed", Reason: fmt.Sprintf("%d of %d seeded faults found", len(names), len(names))}
}
