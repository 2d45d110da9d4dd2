package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"handloom/internal/cli"
	"handloom/internal/report"
)

func (p *command) replay(ctx context.Context, command string, args []string) int {
	s, err := parseReplay(command, args)
	switch {
	case errors.Is(err, flag.ErrHelp) && command == "":
		p.smokes = false
		return p.help(nil)
	case errors.Is(err, flag.ErrHelp):
		return p.help([]string{command})
	case err != nil:
		return p.misused(command, err)
	}
	src, err := p.open(s.file)
	if err != nil {
		return p.failed(command, err)
	}
	defer src.Close()
	r, err := newReplay(src.name, s.workers, s.shards)
	if err != nil {
		return p.failed(command, err)
	}
	r.fault = p.fault
	f := p.follow("replay of "+src.name, cli.CommandLine("go run ./stress", p.args...))
	return p.printResults(r, f, p.play(ctx, r, f, src), command == "" && p.smokes)
}

func (p *command) play(ctx context.Context, r *replay, f *following, src source) cli.Verdict {
	r.onTick = func(r *replay) { f.tick(r) }
	err := r.run(ctx, src)
	f.progress.Clear()
	o := r.outcome(err)
	o.Exit = bySignal(ctx, o.Exit)
	if o.Exit == exitBad {
		p.bad(err)
	}
	return o
}

// tick reports progress.
func (f *following) tick(r *replay) {
	f.progress.Show(func(since time.Duration) string {
		line := fmt.Sprintf("tick %s, %s live items, %s events, %s", report.Count(r.model.tick),
			report.Count(r.model.len()), report.Count(r.events), report.Rate(r.events-f.done, since))
		f.done = r.events
		return line
	})
}

// printResults ends a replay. If more follows, only a failure has a verdict, because the
// verdict is the last line.
func (p *command) printResults(r *replay, f *following, o cli.Verdict, more bool) int {
	if o.Exit != exitBad {
		fmt.Fprintf(p.stdout, "ticks %s, tables %s, shards %d of each table\n\n",
			report.Count(r.model.tick), report.Count(len(r.model.tables)), r.shards)
		fmt.Fprintf(p.stdout, figuresInWords, report.Count(r.events/max(r.model.tick, 1)))
		r.stats().WriteTo(p.stdout)
		fmt.Fprintln(p.stdout)
	}
	for _, m := range r.mismatches {
		fmt.Fprintln(p.stdout, "mismatch:", m)
	}
	if more && o.Exit == exitVerified {
		fmt.Fprintln(p.stdout, "the trace is verified:", o.Reason)
		return o.Exit
	}
	return p.end(f, o)
}

// figuresInWords precedes the table of a replay.
const figuresInWords = `An event creates, changes or erases one item. A tick is a pass over all items, a pass that
records the tick's events, %s on average, a flush that applies them, and sums over all
items. events/s counts the time of all four. So few events per tick are the worst case for
a store: each pays for its share of the passes. More workers help with large ticks only.

`
