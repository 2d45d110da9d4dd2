package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/internal/report"
	"handloom/proof/draw"
	"handloom/proof/model"
	"handloom/proof/runner"
	"handloom/proof/script"
)

type profile struct {
	name, about    string
	duration       time.Duration
	steps, configs int
}

func find(name string) (profile, bool) {
	for _, p := range []profile{
		{"smoke", "random programs for 20 seconds", 20 * time.Second, 400, 3},
		{"pr", "random programs for 2 minutes", 2 * time.Minute, 500, 4},
		{"nightly", "random programs for 4 hours", 4 * time.Hour, 1000, 8},
		{"long", "random programs of 5,000 operations for 10 minutes", 10 * time.Minute, 5000, 3},
	} {
		if p.name == name {
			return p, true
		}
	}
	return profile{}, false
}

func (p profile) draw(seed uint64) *script.Script {
	drawn := draw.Script(seed, draw.Options{Steps: p.steps, Misuses: runner.Misuses()})
	drawn.Revision, drawn.Configs = cli.Revision(), draw.Configs(seed, p.configs)
	return drawn
}

// played is the sum of the programs of a campaign.
type played struct {
	runner.Result
	programs int
}

// campaign plays the known programs, unless their number is limited, and then
// drawn programs, until the time is over or a program fails.
func (p *command) campaign(ctx context.Context, o options) int {
	known, err := knownPrograms()
	if err != nil {
		return p.bad(err)
	}
	lasts, title := cmp.Or(o.duration, o.profile.duration), o.profile.about
	switch {
	case o.seeds > 0:
		known, title = nil, fmt.Sprintf("%d random programs", o.seeds)
	case o.duration > 0:
		title = fmt.Sprintf("random programs for %v", o.duration)
	}
	p.begin("profile "+o.profile.name+": "+title, again(o.args...))
	var all played
	for begun, seed := time.Now(), o.seed; ctx.Err() == nil && (o.seeds == 0 && time.Since(begun) < lasts || all.programs < o.seeds); {
		var next *script.Script
		if len(known) > 0 {
			next, known = known[0], known[1:]
		} else {
			next = o.profile.draw(seed)
			seed++
		}
		if r := p.under(ctx, next); p.add(&all, r).Failure != nil {
			p.printStates(&all)
			return p.fails(ctx, o, next, r)
		}
		p.notify("%s programs, %s operations, %s, %s flushes, seed %d", report.Count(all.programs), report.Count(all.Operations),
			report.Rate(all.Operations, time.Since(begun)), report.Count(all.Flushes), next.Seed)
	}
	missing := p.printStates(&all)
	switch {
	case ctx.Err() != nil:
		return p.end(ctx, "interrupted", exitInterrupted, "nothing failed so far: "+all.String())
	case len(missing) > 0 && o.seeds == 0 && o.duration == 0: // promised by a whole profile
		return p.end(ctx, "never-seen", exitNeverSeen, "nothing failed, but these states never came up: "+strings.Join(missing, ", "))
	}
	return p.end(ctx, "passed", exitPassed, all.String())
}

// under plays a program under its configurations. A program that takes longer
// than the patience hangs; its goroutine stays.
func (p *command) under(ctx context.Context, s *script.Script) *runner.Result {
	if len(s.Configs) == 0 {
		s.Configs = defaultConfigs(s.Seed)
	}
	done := make(chan *runner.Result, 1)
	go func() { done <- runner.Under(ctx, s, s.Configs...) }()
	select {
	case r := <-done:
		return r
	case <-time.After(p.patience):
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		what := fmt.Sprintf("the program did not end in %v\n%s", p.patience, stacks)
		return &runner.Result{Failure: &runner.Failure{Kind: runner.Liveness, What: what}, Configs: s.Configs}
	}
}

func (p *command) add(all *played, r *runner.Result) *runner.Result {
	all.programs++
	all.Operations += r.Operations
	all.Flushes += r.Flushes
	all.Seen.Add(r.Seen)
	return r
}

func (all *played) String() string {
	return fmt.Sprintf("programs %s, operations %s, flushes %s", report.Count(all.programs), report.Count(all.Operations), report.Count(all.Flushes))
}

// printStates prints the least frequent rare states and returns the missing
// ones.
func (p *command) printStates(all *played) (missing []string) {
	var seen []model.Seen
	for _, s := range model.AllSeen() {
		if all.Seen[s] > 0 {
			seen = append(seen, s)
		} else {
			missing = append(missing, s.String())
		}
	}
	slices.SortStableFunc(seen, func(a, b model.Seen) int { return cmp.Compare(all.Seen[a], all.Seen[b]) })
	var least []string
	for _, s := range seen[:min(6, len(seen))] {
		least = append(least, fmt.Sprintf("%v %s", s, report.Count(all.Seen[s])))
	}
	fmt.Fprintf(p.stdout, "\nrare states: %d of %d came up; least often %s\n", len(seen), len(model.AllSeen()), strings.Join(least, ", "))
	return missing
}
