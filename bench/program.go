package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/results"
	"handloom/bench/internal/suite"
	"handloom/bench/internal/targets"
	"handloom/internal/cli"
)

//go:embed usage.txt
var usage string

const goRun = "go run ./bench"

type command struct {
	args           []string
	stdout, stderr io.Writer

	*settings
	plan *targets.Plan // nil: no targets requested
}

// run returns the exit code, or the error for exit code 2.
func (p *command) run(ctx context.Context) (int, error) {
	s, err := parse(p.args)
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(p.stdout, usage)
		return exitDone, err
	}
	if err != nil {
		return 0, fmt.Errorf("%w; see: go run ./bench -h", err)
	}
	p.settings = s
	if p.targets {
		p.plan = targets.NewPlan(p.settings.run, runtime.GOMAXPROCS(0))
	}
	if p.html != "" {
		if err := cli.CheckFile(p.html); err != nil {
			return 0, err
		}
	}
	r, err := p.results(ctx)
	if err != nil || r == nil {
		return exitDone, err
	}
	return p.finish(ctx, r)
}

func (p *command) results(ctx context.Context) (*results.Run, error) {
	cases := p.cases()
	if len(cases) == 0 {
		return nil, fmt.Errorf("nothing matches -run %s; -list prints the names of all cases", p.settings.run.String())
	}
	if p.list {
		for _, c := range cases {
			if _, err := fmt.Fprintln(p.stdout, c.Name()); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return p.measure(ctx, cases)
}

func (p *command) cases() []measure.Case {
	o := suite.Options{N: p.n, Workers: p.cpu, Seed: p.seed}
	switch {
	case p.plan != nil:
		o.Workers = p.plan.Workers()
		return p.plan.Select(o.All())
	case p.list, p.given["run"]:
		var chosen []measure.Case
		for _, c := range o.All() {
			if p.settings.run.MatchString(c.Name()) {
				chosen = append(chosen, c)
			}
		}
		return chosen
	}
	return o.Headline()
}

// measure measures the cases. An interrupt leaves a partial run.
func (p *command) measure(ctx context.Context, cases []measure.Case) (*results.Run, error) {
	r := &results.Run{Command: cli.CommandLine(goRun, p.args...), Environment: results.Here()}
	r.Environment.Seed, r.Environment.Rounds, r.Environment.BenchTime = p.seed, p.count, p.benchtime.String()
	stop, err := p.profile()
	if err != nil {
		return nil, err
	}
	shown := cli.NewProgress(p.stderr, time.Now)
	o := measure.Options{Rounds: p.count, Time: p.benchtime, Seed: p.seed, Progress: func(at measure.Progress) {
		shown.Show(func(time.Duration) string { return fmt.Sprintf("%3d %%  %s", 100*at.Done/at.Total, at.Case.Name()) })
	}}
	r.Results, err = o.Run(ctx, cases)
	shown.Clear()
	if err := stop(); err != nil {
		return nil, err
	}
	if err == nil && p.plan != nil {
		r.Starts, err = p.measureStarts(ctx, p.plan.Starts(cases))
	}
	if r.Partial = ctx.Err() != nil; !r.Partial && err != nil {
		return nil, err
	}
	return r, nil
}

// profile starts the profile, if requested. stop ends it.
func (p *command) profile() (stop func() error, err error) {
	if p.cpuprofile == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(p.cpuprofile)
	if err != nil {
		return nil, fmt.Errorf("-cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
