package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/internal/report"
	"handloom/proof/draw"
	"handloom/proof/runner"
	"handloom/proof/script"
)

const programSuffix = ".program"

// regress has the programs played first. Each reaches a rare state or once
// failed.
//
//go:embed testdata/regress/*.program
var regress embed.FS

func knownPrograms() ([]*script.Script, error) {
	entries, err := regress.ReadDir("testdata/regress")
	var all []*script.Script
	for _, e := range entries {
		text, err := regress.ReadFile("testdata/regress/" + e.Name())
		if err != nil {
			return nil, err
		}
		p, err := parseProgram(text, e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, err
}

func parseProgram(text []byte, name string) (*script.Script, error) {
	p, err := script.Parse(text, name)
	if err != nil {
		return nil, err
	}
	return p, runner.Check(p, name)
}

func loadProgram(file string) (*script.Script, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("stress: %w", err)
	}
	const gzip = "\x1f\x8b"
	if bytes.HasPrefix(text, []byte("handloom-trace ")) || bytes.HasPrefix(text, []byte(gzip)) {
		return nil, &script.Error{File: file, Line: 1, Reason: "it is a trace, or compressed; a trace is replayed by: replay " + cli.Quote(file)}
	}
	return parseProgram(text, file)
}

func defaultConfigs(seed uint64) []script.Config { return draw.Configs(seed, 4) }

func (p *command) playProgram(ctx context.Context, o options) int {
	s, err := loadProgram(o.program)
	if err != nil {
		return p.bad(err)
	}
	p.begin("program "+o.program, again(o.args...))
	var all played
	r := p.add(&all, p.under(ctx, s))
	switch {
	case r.Failure != nil:
		return p.fails(ctx, o, s, r)
	case ctx.Err() != nil:
		return p.end(ctx, "interrupted", exitInterrupted, "nothing failed so far: "+all.String())
	}
	return p.end(ctx, "passed", exitPassed, all.String())
}

const shrinkTime = time.Minute

// fails prints a failure, shrinks the program, and keeps it in a file.
func (p *command) fails(ctx context.Context, o options, s *script.Script, r *runner.Result) int {
	f := r.Failure
	verdict, exit, reason := string(f.Kind), exitCodes[f.Kind], f.What
	s.Configs = r.Configs
	fmt.Fprintf(p.stdout, "\nFAIL %s: seed %d, at %q\n%s\n", f.Kind, s.Seed, f.Line, f.What)
	if f.Kind != runner.Liveness && ctx.Err() == nil {
		fmt.Fprintf(p.stdout, "\nshrinking %s operations for %v at most ...\n", report.Count(s.Len()), shrinkTime)
		limited, cancel := context.WithTimeout(ctx, shrinkTime)
		s, f = runner.Shrink(limited, s, r)
		cancel()
		fmt.Fprintf(p.stdout, "%s operations are left:\n\n%s\nat %q\n%s\n\n", report.Count(s.Len()), s.Text(), f.Line, f.What)
	}
	name := "seed" + strconv.FormatUint(s.Seed, 10)
	if o.program != "" {
		name = strings.TrimSuffix(filepath.Base(o.program), programSuffix) + "-again"
	}
	file := filepath.Join(o.artifacts, name+programSuffix)
	err := os.MkdirAll(o.artifacts, 0o755)
	if err == nil {
		err = cli.WriteFile(file, s.Text())
	}
	if err != nil {
		p.bad(fmt.Errorf("stress: an artifact is missing: %w", err))
	} else {
		fmt.Fprintf(p.stdout, "program: %s\nplay it again: %s\n", file, again("-program", file))
	}
	return p.end(ctx, verdict, exit, reason)
}
