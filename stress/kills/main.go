package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/internal/report"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		os.Exit(runChild(os.Args[2:], os.Stdin, os.Stdout))
	}
	os.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr))
}

const (
	exitPassed = 0
	exitBad    = 2 // wrong usage, or a folder with files
	exitLost   = 11
)

//go:embed help.txt
var helpText string

// run runs the program and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, helpText)
		return exitPassed
	}
	if err == nil {
		err = o.checkFolder()
	}
	if err != nil {
		fmt.Fprintf(stderr, "kills: %v; see: go run ./stress/kills -h\n", err)
		return exitBad
	}
	fmt.Fprintf(stdout, "go run ./stress/kills -kills %d -seed %d %s\n", o.Kills, o.Seed, cli.Quote(o.Dir))
	progress := cli.NewProgress(stderr, time.Now)
	o.Progress = func(r *result) {
		progress.Show(func(time.Duration) string { return r.String() })
	}
	r, err := kill(ctx, o)
	progress.Clear()
	fmt.Fprintln(stdout, r)
	for _, f := range r.Faults {
		fmt.Fprintln(stdout, "fault:", f)
	}
	v := r.verdict(ctx, err)
	fmt.Fprintln(stdout, v)
	return v.Exit
}

func parse(args []string) (options, error) {
	o := options{Kills: 20, Seed: rand.Uint64N(1e6)}
	flags := cli.NewFlags()
	flags.IntVar(&o.Kills, "kills", o.Kills, "")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "")
	words, err := cli.ParseFlags(flags, args)
	switch {
	case err != nil:
		return o, err
	case len(words) != 1 || words[0] == "":
		return o, fmt.Errorf("got %q, want one DIR", words)
	case strings.HasPrefix(words[0], "-"):
		return o, fmt.Errorf("DIR: got %s, a flag, want ./%[1]s", words[0])
	case o.Kills < 1 || o.Kills > 1e6:
		return o, fmt.Errorf("-kills: got %d, want 1 to 1000000", o.Kills)
	}
	o.Dir = words[0]
	return o, nil
}

// checkFolder sets the program of the children, too.
func (o *options) checkFolder() error {
	if names, err := os.ReadDir(o.Dir); err == nil && len(names) > 0 {
		return fmt.Errorf("%s has files, want a new or empty folder", o.Dir)
	}
	path, err := os.Executable()
	o.Command = []string{path}
	return err
}

func (r *result) String() string {
	return fmt.Sprintf("kills %s, ticks %s, replayed %s, acknowledged %s",
		report.Count(r.Kills), report.Count(int(r.Ticks)), report.Count(r.Replayed), report.Count(r.Acks))
}

func (r *result) verdict(ctx context.Context, err error) cli.Verdict {
	counts := fmt.Sprintf("kills %s: ticks lost %d, acknowledged and lost %d, applied twice %d, wrong digests %d",
		report.Count(r.Kills), r.LostTicks, r.LostAcks, r.Twice, r.Wrong)
	switch {
	case len(r.Faults) > 0:
		return cli.NewVerdict("lost", exitLost, counts+": "+r.Faults[0])
	case err != nil:
		return cli.NewVerdict("failed", exitLost, err.Error())
	case ctx.Err() != nil:
		return cli.NewVerdict("interrupted", cli.Exit(ctx), counts)
	}
	return cli.NewVerdict("passed", exitPassed, counts)
}
