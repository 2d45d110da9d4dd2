package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"handloom/internal/report"
	"handloom/proof/runner"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/feed"
	"handloom/stress/internal/soak"
)

// soakDuration is how long the profile soak lasts by itself.
const soakDuration = 10 * time.Minute

// soak runs one steady workload for a long time.
func (p *program) soak(ctx context.Context, h harnessing) int {
	f, err := p.follow(h.outputs)
	if err != nil {
		return p.failed("", err)
	}
	duration := h.lasts(soakDuration)
	f.begin(feed.Start{
		Title: fmt.Sprintf("profile soak: a constant set of items for %v", duration), Command: h.line(),
		Unit: "commands", Details: h.details(),
	})
	r := soak.Run(ctx, soak.Options{Duration: duration, Seed: h.seed, Feed: f.Feed})
	fmt.Fprintln(f.human)
	writeTenths(f.human, r)
	return p.end(ctx, f, soakVerdict(r))
}

func soakVerdict(r *soak.Result) feed.Verdict {
	kinds := map[soak.Kind]runner.Kind{soak.Leak: runner.Leak, soak.Limit: runner.Limit, soak.Model: runner.Model}
	switch {
	case r.Kind != "":
		return feed.Verdict{Verdict: string(r.Kind), ExitCode: campaign.Exit(kinds[r.Kind]), Reason: r.Fault}
	case r.Interrupted:
		return feed.Verdict{
			Verdict: "interrupted", ExitCode: campaign.ExitInterrupted,
			Reason: fmt.Sprintf("nothing failed in %d tenths", len(r.Tenths)),
		}
	}
	return feed.Verdict{Verdict: "passed", Reason: "heap, goroutines, open files, slots and flush times are steady"}
}

func writeTenths(out io.Writer, r *soak.Result) {
	t := report.NewTable("tenth", "ticks", "commands", "heap", "goroutines", "files", "slots", "depleted", "flush p50", "p99.9", "max")
	for i, x := range r.Tenths {
		t.Row(strconv.Itoa(i+1), report.Count(x.Ticks), report.Count(x.Operations), report.Bytes(int64(x.Heap)),
			strconv.Itoa(x.Goroutines), strconv.Itoa(x.Files), report.Count(x.Slots), report.Count(x.Depleted),
			report.Duration(x.Flush.P50), report.Duration(x.Flush.P999), report.Duration(x.Flush.Max))
	}
	t.WriteTo(out)
	fmt.Fprintln(out)
}
