package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"handloom/internal/report"
	"handloom/internal/trace"
	"handloom/proof/runner"
	"handloom/proof/script"
)

func (p *command) open(file string) (in io.ReadCloser, name string, err error) {
	switch file {
	case "":
		return io.NopCloser(bytes.NewReader(trace.Sample)), "embedded trace", nil
	case "-":
		return io.NopCloser(p.stdin), "stdin", nil
	}
	in, err = os.Open(file)
	return in, file, err
}

// replay plays a trace as a program, once for each number of workers. Random
// programs follow the embedded trace.
func (p *command) replay(ctx context.Context, o options) int {
	in, name, err := p.open(o.file)
	if err != nil {
		return p.bad(fmt.Errorf("%s: %w", o.called(), err))
	}
	defer in.Close()
	p.begin("replay of "+name, again(o.args...))
	r, err := record(ctx, in, name, o.shards)
	if err != nil {
		p.bad(err)
		return p.end(ctx, "malformed", exitBad, err.Error())
	}
	fmt.Fprintf(p.stdout, "ticks %s, events %s, tables %s, shards %d of each table\n\n",
		report.Count(r.ticks), report.Count(r.events), report.Count(len(r.script.Tables)), r.shards)
	f, err := p.compare(ctx, o, &r.script)
	scope := fmt.Sprintf("ticks %s, workers %v, the same digest after every tick", report.Count(r.ticks), &o.workers)
	switch {
	case f != nil:
		return p.end(ctx, string(f.Kind), exitCodes[f.Kind], f.Error())
	case err != nil:
		return p.end(ctx, "interrupted", exitInterrupted, "nothing failed so far: "+scope)
	case o.command != "":
		return p.end(ctx, "verified", exitPassed, scope)
	}
	// The verdict is the last line of the random programs.
	fmt.Fprintf(p.stdout, "the trace is verified: %s\n\n", scope)
	o.args = []string{"-profile", o.profile.name, "-seed", fmt.Sprint(o.seed)}
	return p.campaign(ctx, o)
}

// compare plays a trace and compares the numbers of workers. Its error is the
// end of ctx.
func (p *command) compare(ctx context.Context, o options, s *script.Script) (*runner.Failure, error) {
	var first *runner.Result
	for _, workers := range o.workers {
		begun := time.Now()
		r := runner.Play(ctx, s, script.Config{Workers: workers, Team: 1})
		if ctx.Err() != nil || r.Failure != nil {
			return r.Failure, ctx.Err()
		}
		if first == nil {
			first = r
		}
		if what := runner.Differ(first.Marks, r.Marks); what != "" {
			return &runner.Failure{Kind: runner.Determinism, What: fmt.Sprintf("workers %d and %d: %s", o.workers[0], workers, what)}, nil
		}
		fmt.Fprintf(p.stdout, "workers %d: %s, last digest %.16s\n", workers, report.Duration(time.Since(begun)), r.Marks[len(r.Marks)-1])
	}
	return nil, nil
}
