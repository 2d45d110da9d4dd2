package main

import (
	"context"
	"fmt"

	"handloom/bench/internal/buildcost"
	"handloom/bench/internal/results"
	"handloom/internal/cli"
)

// builds builds the generated programs and prints their costs. An interrupt
// keeps finished builds.
func (p *command) builds(ctx context.Context) (int, error) {
	here := results.Here()
	fmt.Fprintf(p.stdout, "%s\n%s %s/%s, %s, %d processors, revision %s, %s, %d rounds\n\n",
		cli.CommandLine(goRun, p.args...), here.Go, here.GOOS, here.GOARCH, here.CPU, here.CPUs, here.Revision, here.Date, p.count)
	var all []buildcost.Cost
	for _, source := range buildcost.Sources() {
		fmt.Fprintf(p.stderr, "bench: building %v\n", source)
		costs, err := source.Measure(ctx, p.count)
		if ctx.Err() != nil {
			fmt.Fprintln(p.stderr, "bench: interrupted; what was measured is printed, marked as partial")
			err := buildcost.Write(p.stdout, all)
			fmt.Fprintln(p.stdout, "partial: interrupted before everything was measured")
			return cli.Exit(ctx), err
		}
		if err != nil {
			return 0, err
		}
		all = append(all, buildcost.Median(costs))
	}
	return exitDone, buildcost.Write(p.stdout, all)
}
