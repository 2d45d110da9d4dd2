package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/internal/report"
	"handloom/stress/internal/campaign"
	"handloom/stress/internal/kills"
)

func wantsDurable(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return name == "-durable" || name == "--durable"
	})
}

func (p *command) durable(ctx context.Context, args []string) int {
	const command = "-durable"
	o := kills.Options{Kills: 20, Seed: rand.Uint64N(1e6)}
	flags := cli.NewFlags()
	flags.StringVar(&o.Dir, "durable", "", "")
	flags.IntVar(&o.Kills, "kills", o.Kills, "")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "")
	words, err := cli.ParseFlags(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.help([]string{"durable"})
	case err != nil:
		return p.misused(command, err)
	case len(words) > 0 || o.Dir == "":
		return p.misused(command, fmt.Errorf("want one DIR, and %q is too much", words))
	case strings.HasPrefix(o.Dir, "-"):
		return p.misused(command, fmt.Errorf("DIR is %s, which looks like a flag; ./%s does not", o.Dir, o.Dir))
	case o.Kills < 1 || o.Kills > 1e6:
		return p.misused(command, fmt.Errorf("-kills is %d; want 1 to 1000000", o.Kills))
	}
	if names, err := os.ReadDir(o.Dir); err == nil && len(names) > 0 {
		return p.failed(command, fmt.Errorf("%s is not empty; the journal begins there", o.Dir))
	}
	path, err := os.Executable()
	if err != nil {
		return p.failed(command, err)
	}
	o.Command = []string{path}
	fmt.Fprintf(p.stdout, "go run ./stress -durable %s -kills %d -seed %d\n", cli.Quote(o.Dir), o.Kills, o.Seed)
	progress := cli.NewProgress(p.stderr, time.Now)
	o.Progress = func(r *kills.Result) {
		progress.Show(func(time.Duration) string {
			return fmt.Sprintf("kills %s of %s, ticks %s, acknowledged %s", report.Count(r.Kills), report.Count(o.Kills), report.Count(int(r.Ticks)), report.Count(r.Acks))
		})
	}
	r, err := kills.Run(ctx, o)
	progress.Clear()
	return p.printKills(ctx, r, err)
}

func (p *command) printKills(ctx context.Context, r *kills.Result, err error) int {
	table := report.NewTable("kills", "in Open", "ticks", "replayed", "acknowledged", "slowest start", "took")
	table.Row(report.Count(r.Kills), report.Count(r.InOpen), report.Count(int(r.Ticks)), report.Count(r.Replayed), report.Count(r.Acks),
		report.Duration(r.Slowest), report.Duration(r.Took))
	fmt.Fprintln(p.stdout)
	table.WriteTo(p.stdout)
	fmt.Fprintln(p.stdout)
	for _, f := range r.Faults {
		fmt.Fprintln(p.stdout, "fault:", f)
	}
	o := cli.NewVerdict("passed", exitVerified, fmt.Sprintf("kills %s: ticks lost 0, acknowledged and lost 0, applied twice 0, wrong digests 0", report.Count(r.Kills)))
	switch {
	case r.Bad():
		o = cli.NewVerdict("lost", campaign.ExitInvariant, fmt.Sprintf("kills %s: ticks lost %d, acknowledged and lost %d, applied twice %d, wrong digests %d: %s",
			report.Count(r.Kills), r.LostTicks, r.LostAcks, r.Twice, r.Wrong, r.Faults[0]))
	case err != nil:
		o = cli.NewVerdict("failed", campaign.ExitInvariant, err.Error())
	case ctx.Err() != nil:
		o = cli.NewVerdict("interrupted", bySignal(ctx, exitInterrupted), fmt.Sprintf("kills %s: until then nothing was lost", report.Count(r.Kills)))
	}
	fmt.Fprintln(p.stdout, o)
	return o.Exit
}
