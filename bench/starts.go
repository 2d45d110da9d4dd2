package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/results"
	"handloom/internal/cli"
)

const (
	maxStarts   = 10
	startRounds = 5
)

// measureStarts measures cases in other processes, one after the other, because the place of
// code and data in memory, which decides some ratios, changes only there. The results have
// a sample per process: the median of its rounds.
func (p *command) measureStarts(ctx context.Context, cases []measure.Case) (all []measure.Result, err error) {
	for _, c := range cases {
		all = append(all, measure.Result{Case: c})
	}
	program, err := os.Executable()
	if err != nil || len(cases) == 0 {
		return nil, err
	}
	shown := cli.NewProgress(p.stderr, time.Now)
	defer shown.Clear()
	for i := range min(p.count, maxStarts) {
		shown.Show(func(time.Duration) string { return fmt.Sprintf("start %d of %d", i+1, min(p.count, maxStarts)) })
		values, err := p.start(ctx, program, all, p.seed+uint64(i))
		if err != nil {
			return all, err
		}
		for k := range all {
			median := measure.Summarize(values[all[k].Name()]).Median
			all[k].Samples = append(all[k].Samples, measure.Sample{Value: median, Bodies: 1})
		}
	}
	return all, nil
}

// start returns the samples of one process by the name of the case.
func (p *command) start(ctx context.Context, program string, cases []measure.Result, seed uint64) (map[string][]float64, error) {
	var names, ns []string
	for i := range cases {
		names = append(names, regexp.QuoteMeta(cases[i].Name()))
		if n := strconv.Itoa(cases[i].N); !slices.Contains(ns, n) {
			ns = append(ns, n)
		}
	}
	cmd := exec.CommandContext(ctx, program, "-run", "^("+strings.Join(names, "|")+")$", "-n", strings.Join(ns, ","), "-format", "go",
		"-count", strconv.Itoa(min(p.count, startRounds)), "-benchtime", p.benchtime.String(), "-seed", strconv.FormatUint(seed, 10))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("starting the program again: %w: %s", err, stderr.String())
	}
	values, err := results.ReadGo(strings.NewReader(string(out)))
	for i := range cases {
		if len(values[cases[i].Name()]) == 0 {
			err = errors.Join(err, fmt.Errorf("starting the program again: no sample of %s", cases[i].Name()))
		}
	}
	return values, err
}
