//go:build unix

// Command nemesis runs a world on several processes under faults of machines and networks;
// see -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"handloom/cluster/internal/nemesis"
	"handloom/internal/cli"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == nemesis.ChildCommand {
		os.Exit(nemesis.Child(os.Args[2:], os.Stdin, os.Stdout, nemesis.Notes))
	}
	os.Exit((&command{os.Stdout, os.Stderr}).run(cli.Context(), os.Args[1:]))
}

type command struct{ stdout, stderr io.Writer }

func (p *command) run(ctx context.Context, args []string) int {
	o := nemesis.Options{Duration: time.Minute, Seed: rand.Uint64N(1e6), Hz: 20, Clients: 8, Game: nemesis.Notes, Client: nemesis.LeaveNotes, Out: p.stdout}
	var only string
	flags := flag.NewFlagSet("nemesis", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&o.Duration, "duration", o.Duration, "")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "")
	flags.StringVar(&only, "only", "", "")
	flags.StringVar(&o.Mutant, "canary", "", "")
	flags.StringVar(&o.Dir, "dir", "", "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage(p.stdout)
		return nemesis.ExitPassed
	}
	if err == nil {
		err = check(&o, flags.Args(), only)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "nemesis: %v; see -h\n", err)
		return nemesis.ExitUsage
	}
	again := fmt.Sprintf("go run ./cluster/cmd/nemesis -duration %v -seed %d", o.Duration, o.Seed)
	if only != "" {
		again += " -only " + only
	}
	if o.Mutant != "" {
		again += " -canary " + o.Mutant
	}
	fmt.Fprintln(p.stdout, again)
	run, err := nemesis.New(o)
	if err != nil {
		fmt.Fprintf(p.stderr, "nemesis: %v\n", err)
		return nemesis.ExitFailed
	}
	_, v := run.Play(ctx)
	return v.Exit
}

// check returns an error for wrong flags.
func check(o *nemesis.Options, rest []string, only string) error {
	var names []string
	for _, k := range nemesis.Kinds() {
		names = append(names, k.Name)
	}
	if only != "" {
		o.Only = strings.Split(only, ",")
	}
	for _, name := range o.Only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-only: got %q, want some of %s", name, strings.Join(names, ","))
		}
	}
	switch _, known := nemesis.Mutants[o.Mutant]; {
	case len(rest) > 0:
		return fmt.Errorf("arguments: got %q, want none", rest)
	case o.Duration <= 0:
		return fmt.Errorf("-duration: got %v, want more than 0, such as 30m", o.Duration)
	case o.Mutant != "" && !known:
		return fmt.Errorf("-canary: got %q, want a fault", o.Mutant)
	}
	return nil
}
