package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"handloom/internal/cli"
)

type settings struct {
	targets    bool
	list       bool
	format     string
	html       string
	run        *regexp.Regexp
	n          cli.Numbers
	cpu        cli.Numbers
	count      int
	benchtime  time.Duration
	seed       uint64
	cpuprofile string

	given map[string]bool // by name
}

const (
	headlineRounds = 10
	targetRounds   = 15
	minRounds      = 6 // for an interval
)

var formats = []string{"table", "go", "md"}

func parse(args []string) (*settings, error) {
	s := &settings{
		format: "table", count: headlineRounds, benchtime: 5 * time.Millisecond, seed: 1,
		cpu: doublings(runtime.GOMAXPROCS(0)), run: regexp.MustCompile(""), given: make(map[string]bool),
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints the error in one line
	flags.BoolVar(&s.targets, "targets", false, "")
	flags.BoolVar(&s.list, "list", false, "")
	flags.StringVar(&s.format, "format", s.format, "")
	flags.StringVar(&s.html, "html", "", "")
	flags.Func("run", "", func(text string) (err error) {
		s.run, err = regexp.Compile(text)
		return err
	})
	flags.Var(&s.n, "n", "")
	flags.Var(&s.cpu, "cpu", "")
	flags.IntVar(&s.count, "count", s.count, "")
	flags.DurationVar(&s.benchtime, "benchtime", s.benchtime, "")
	flags.Uint64Var(&s.seed, "seed", s.seed, "")
	flags.StringVar(&s.cpuprofile, "cpuprofile", "", "")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is too much; cases are chosen by -run REGEXP", flags.Arg(0))
	}
	flags.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	slices.Sort(s.n)
	slices.Sort(s.cpu)
	if err := errors.Join(s.conflict(), s.check()); err != nil {
		return nil, err
	}
	s.complete()
	return s, nil
}

// conflicts are flags without effect next to another flag.
var conflicts = []struct {
	flag   string
	others []string
	why    string
}{
	{"list", []string{"targets", "format", "html", "count", "benchtime", "cpuprofile"}, "names are all that -list prints"},
	{"targets", []string{"n", "format"}, "the targets say what is measured"},
}

// conflict returns an error for flags that conflict.
func (s *settings) conflict() error {
	for _, c := range conflicts {
		for _, other := range c.others {
			if s.given[c.flag] && s.given[other] {
				return fmt.Errorf("-%s and -%s do not go together: %s", c.flag, other, c.why)
			}
		}
	}
	return nil
}

func (s *settings) check() error {
	switch {
	case !slices.Contains(formats, s.format):
		return fmt.Errorf("-format %q is not known; want %s", s.format, strings.Join(formats, ", "))
	case s.count < 1 || s.count > 1000:
		return fmt.Errorf("-count is %d; want 1 to 1000 rounds", s.count)
	case s.benchtime <= 0 || s.benchtime > time.Hour:
		return fmt.Errorf("-benchtime is %v; want more than 0 and at most 1h", s.benchtime)
	case s.cpu[len(s.cpu)-1] > 1024:
		return fmt.Errorf("-cpu has %d; want at most 1024 workers", s.cpu[len(s.cpu)-1])
	}
	return nil
}

func (s *settings) complete() {
	if s.targets && !s.given["count"] {
		s.count = targetRounds
	}
}

// doublings returns 1, 2, 4 and so on up to n, and n.
func doublings(n int) (list cli.Numbers) {
	for i := 1; i < n; i *= 2 {
		list = append(list, i)
	}
	return append(list, n)
}
