package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/store"
)

// options are the command line.
type options struct {
	command string   // replay, help or ""
	words   []string // of the command
	args    []string

	file    string // trace; "": the embedded one, "-": standard input
	workers cli.Numbers
	shards  int

	harness   bool // random programs without the trace
	profile   profile
	seed      uint64
	seeds     int // 0: until the duration ends
	duration  time.Duration
	program   string // file
	canary    string // name of a fault, all or rare
	artifacts string // folder
}

// harnessFlags select random programs.
var harnessFlags = []string{"profile", "seed", "seeds", "duration", "program", "canary", "artifacts"}

func parse(args []string) (options, error) {
	o := options{args: args, workers: cli.Numbers{1, 2, 4, 8}, shards: 1, artifacts: "artifacts"}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.command, args = args[0], args[1:]
	}
	o.harness = o.command == "" && slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		return strings.HasPrefix(a, "-") && slices.Contains(harnessFlags, name)
	})
	switch {
	case o.harness:
		return o, o.parseHarness(args)
	case o.command == "help":
		o.words = slices.DeleteFunc(args, func(a string) bool { return strings.Trim(a, "-") == "h" || strings.Trim(a, "-") == "help" })
		return o, nil
	case o.command == "" || o.command == "replay":
		return o, o.parseReplay(args)
	}
	command := o.command
	o.command = ""
	return o, fmt.Errorf("unknown command %q; want replay or help", command)
}

func (o *options) parseReplay(args []string) (err error) {
	o.drawSeed()
	o.profile, _ = find("smoke")
	flags := cli.NewFlags()
	flags.Var(&o.workers, "workers", "")
	flags.IntVar(&o.shards, "shards", o.shards, "")
	switch o.words, err = cli.ParseFlags(flags, args); {
	case err != nil:
		return err
	case o.command == "" && len(o.words) > 0:
		return fmt.Errorf("%q is too much; a trace is replayed by: replay %s", o.words[0], cli.Quote(o.words[0]))
	case o.command != "" && len(o.words) != 1:
		return fmt.Errorf("want one TRACE, not %d; the embedded trace is replayed without the command", len(o.words))
	case slices.Max(o.workers) > 1024:
		return fmt.Errorf("-workers has %d; want 1 to 1024", slices.Max(o.workers))
	case o.shards < 1 || o.shards > store.MaxShards:
		return fmt.Errorf("-shards is %d; want 1 to %d", o.shards, store.MaxShards)
	}
	o.file = strings.Join(o.words, "")
	return nil
}

func (o *options) parseHarness(args []string) error {
	name, given := "smoke", map[string]bool{}
	flags := cli.NewFlags()
	flags.StringVar(&name, "profile", name, "")
	flags.Uint64Var(&o.seed, "seed", 0, "")
	flags.IntVar(&o.seeds, "seeds", 0, "")
	flags.DurationVar(&o.duration, "duration", 0, "")
	flags.StringVar(&o.program, "program", "", "")
	flags.StringVar(&o.canary, "canary", "", "")
	flags.StringVar(&o.artifacts, "artifacts", o.artifacts, "")
	words, err := cli.ParseFlags(flags, args)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	profile, known := find(name)
	switch o.profile = profile; {
	case err != nil:
		return err
	case len(words) > 0:
		return fmt.Errorf("%q is too much; a program is played by -program %s", words[0], cli.Quote(words[0]))
	case !known:
		return fmt.Errorf("no profile is called %q; want smoke, pr, nightly or long", name)
	case given["seeds"] && o.seeds < 1:
		return fmt.Errorf("-seeds is %d; want 1 or more", o.seeds)
	case given["duration"] && o.duration <= 0:
		return fmt.Errorf("-duration is %v; want more than 0", o.duration)
	case given["program"] && o.program == "":
		return errors.New("-program wants a file")
	case given["canary"] && o.canary == "":
		return errors.New("-canary wants the name of a fault, all or rare")
	case given["seeds"] && given["duration"]:
		return errors.New("-seeds and -duration do not go together")
	}
	for _, alone := range []string{"canary", "program"} {
		for _, other := range harnessFlags {
			if given[alone] && given[other] && other != alone && other != "artifacts" {
				return fmt.Errorf("-%s and -%s do not go together", alone, other)
			}
		}
	}
	if !given["seed"] && o.canary == "" && o.program == "" {
		o.drawSeed()
		o.args = append(slices.Clip(o.args), "-seed", fmt.Sprint(o.seed))
	}
	return nil
}

// drawSeed draws a number with at most 31 bits, which is easy to copy.
func (o *options) drawSeed() { o.seed = rand.Uint64N(1<<31) + 1 }

// again returns the command line that repeats a run.
func again(args ...string) string {
	return cli.CommandLine(strings.Join(append(append([]string{"go", "run"}, cli.BuildFlags()...), "./stress"), " "), args...)
}

func (o *options) called() string { return strings.TrimSpace("stress " + o.command) }
