package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"handloom/internal/report"
	"handloom/stress/internal/feed"
	"handloom/stress/internal/scenario"
)

// staging is one command line with -scenario.
type staging struct {
	name     string // of a scenario, or a file
	seed     uint64
	workers  int
	hz       int // -1: the scenario's
	ticks    int // 0: the scenario's
	duration time.Duration
	maxP99   time.Duration
	maxHeap  byteCount
	outputs
}

// wantsScenario reports whether a command line has -scenario.
func wantsScenario(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return name == "-scenario" || name == "--scenario"
	})
}

// scenario runs a scenario and tells what came of it.
func (p *program) scenario(ctx context.Context, args []string) int {
	const command = "-scenario"
	g, err := parseStaging(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.help([]string{"scenario"})
	case err != nil:
		return p.misused("", err)
	}
	s, err := g.load()
	var malformed *scenario.Error
	switch {
	case errors.As(err, &malformed):
		return p.bad(err)
	case err != nil:
		return p.failed(command, err)
	}
	f, err := p.follow(g.outputs)
	if err != nil {
		return p.failed(command, err)
	}
	f.begin(feed.Start{
		Title: "scenario " + s.Name + ": " + s.About, Command: g.command(s), Unit: "commands", Details: g.details(s),
		MaxP99: g.maxP99, MaxHeap: int64(g.maxHeap),
	})
	result := s.Run(ctx, scenario.Options{
		Workers: g.workers, Seed: g.seed, Duration: g.duration, MaxP99: g.maxP99, MaxHeap: int64(g.maxHeap), Feed: f.Feed,
	})
	result.Verdict.ExitCode = bySignal(ctx, result.Verdict.ExitCode)
	v, err := f.finish(result.Verdict)
	fmt.Fprintln(f.human)
	result.WriteTo(f.human)
	fmt.Fprintln(f.human)
	if err != nil {
		p.bad(err)
	}
	fmt.Fprintln(f.human, outcome{v.Verdict, v.ExitCode, v.Reason})
	return v.ExitCode
}

func parseStaging(args []string) (staging, error) {
	g := staging{seed: 1, hz: -1}
	flags := newFlags()
	flags.StringVar(&g.name, "scenario", "", "")
	flags.Uint64Var(&g.seed, "seed", g.seed, "")
	flags.IntVar(&g.workers, "workers", 0, "")
	flags.IntVar(&g.hz, "hz", g.hz, "")
	flags.IntVar(&g.ticks, "ticks", 0, "")
	flags.DurationVar(&g.duration, "duration", 0, "")
	flags.DurationVar(&g.maxP99, "max-p99", 0, "")
	flags.Var(&g.maxHeap, "max-heap", "")
	g.define(flags)
	words, err := parse(flags, args)
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case err != nil:
		return g, err
	case len(words) > 0:
		return g, fmt.Errorf("%q is too much; a file is named by -scenario FILE", words[0])
	case g.name == "":
		return g, fmt.Errorf("-scenario wants a name or a file; the names are %s", strings.Join(scenario.Names(), ", "))
	case g.workers < 0 || g.workers > maxWorkers:
		return g, fmt.Errorf("-workers is %d; want 0 to %d, 0 being GOMAXPROCS", g.workers, maxWorkers)
	case given["hz"] && (g.hz < 0 || g.hz > scenario.MaxHz):
		return g, fmt.Errorf("-hz is %d; want 0 to %d, 0 being as fast as it goes", g.hz, scenario.MaxHz)
	case given["ticks"] && (g.ticks < 1 || g.ticks > scenario.MaxTicks):
		return g, fmt.Errorf("-ticks is %d; want 1 to %d", g.ticks, scenario.MaxTicks)
	case given["duration"] && g.duration <= 0:
		return g, fmt.Errorf("-duration is %v; want more than 0", g.duration)
	case given["duration"] && given["ticks"]:
		return g, errors.New("-duration and -ticks both say how long; give one")
	case given["max-p99"] && g.maxP99 <= 0:
		return g, fmt.Errorf("-max-p99 is %v; want more than 0", g.maxP99)
	}
	return g, g.check()
}

// load returns the scenario with what the flags change of it.
func (g *staging) load() (*scenario.Scenario, error) {
	s, err := scenario.Load(g.name)
	if err != nil {
		return nil, err
	}
	if g.hz >= 0 {
		s.Hz = g.hz
	}
	if g.ticks > 0 {
		s.Ticks = g.ticks
	}
	if g.duration > 0 {
		if s.Hz == 0 {
			return nil, errors.New("-duration needs a rate; give -hz too, or -ticks instead")
		}
		ticks := g.duration.Seconds() * float64(s.Hz)
		if ticks > scenario.MaxTicks {
			return nil, fmt.Errorf("-duration %v are %.0f ticks; want at most %d", g.duration, ticks, scenario.MaxTicks)
		}
		s.Ticks = max(int(ticks), 1)
	}
	return s, nil
}

// command returns the command line that repeats the run.
func (g *staging) command(s *scenario.Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "go run ./stress -scenario %s -seed %d -workers %d -hz %d", quote(g.name), g.seed, g.workers, s.Hz)
	if g.duration > 0 {
		fmt.Fprintf(&b, " -duration %v", g.duration)
	} else {
		fmt.Fprintf(&b, " -ticks %d", s.Ticks)
	}
	if g.maxP99 > 0 {
		fmt.Fprintf(&b, " -max-p99 %v", g.maxP99)
	}
	if g.maxHeap > 0 {
		fmt.Fprintf(&b, " -max-heap %v", &g.maxHeap)
	}
	return b.String() + g.outputs.command()
}

// details are what a report says of the run.
func (g *staging) details(s *scenario.Scenario) []feed.Fact {
	rate := "as fast as it goes"
	if s.Hz > 0 {
		rate = report.Count(s.Hz) + " per second"
	}
	workers := "GOMAXPROCS"
	if g.workers > 0 {
		workers = report.Count(g.workers)
	}
	facts := []feed.Fact{
		{Name: "seed", Value: strconv.FormatUint(g.seed, 10)},
		{Name: "workers", Value: workers},
		{Name: "readers", Value: report.Count(s.Readers)},
		{Name: "ticks due", Value: rate},
		{Name: "ticks asked for", Value: report.Count(s.Ticks)},
	}
	if g.duration > 0 {
		facts = append(facts, feed.Fact{Name: "time they have", Value: g.duration.String()})
	}
	return facts
}

// byteCount is a value like 512MiB.
type byteCount int64

var byteUnits = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

func (c *byteCount) Set(text string) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > (1<<62)/u.size {
			return errors.New("want a whole number above 0 and B, KiB, MiB or GiB, such as 512MiB")
		}
		*c = byteCount(n * u.size)
		return nil
	}
	return nil // not reached: the last unit has no name
}

func (c *byteCount) String() string {
	for _, u := range byteUnits {
		if n := int64(*c); n != 0 && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return "0"
}
