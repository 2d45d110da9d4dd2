package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"handloom/internal/cli"
	"handloom/internal/report"
)

// replay is the commands "" and "replay": it replays a trace and tells what
// came of it.
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
	if s.json != "" && s.json != "-" {
		if err := cli.CheckFile(s.json); err != nil {
			return p.failed(command, fmt.Errorf("-json: %w", err))
		}
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
	f, err := p.follow(p.human(s), s.html, runPage{
		Title: "replay of " + src.name, Command: s.command(), Unit: "events",
		Facts: []fact{{Name: "workers", Value: s.workers.String()}, {Name: "shards of each table", Value: report.Count(s.shards)}},
	})
	if err != nil {
		return p.failed(command, err)
	}
	return p.tell(s, r, f, p.play(ctx, r, f, src))
}

// human is where text for people goes.
func (p *command) human(s settings) io.Writer {
	if s.json == "-" {
		return p.stderr
	}
	return p.stdout
}

// play runs the replay, with progress.
func (p *command) play(ctx context.Context, r *replay, f *following, src *source) cli.Verdict {
	r.onTick = func(r *replay) { f.tick(r, src) }
	err := r.run(ctx, src)
	f.progress.Clear()
	f.addPoint(pagePoint{At: time.Since(f.begun), Done: r.events, Live: r.model.len()})
	o := r.outcome(err)
	o.Exit = bySignal(ctx, o.Exit)
	if o.Exit == exitBad {
		p.bad(err)
	}
	return o
}

// pointEvery is how far the points of a replay's charts are apart.
const pointEvery = 100 * time.Millisecond

// tick shows how far the replay is.
func (f *following) tick(r *replay, src *source) {
	if at := time.Since(f.begun); at-f.last >= pointEvery {
		f.last = at
		f.addPoint(pagePoint{At: at, Done: r.events, Live: r.model.len()})
	}
	f.progress.Show(func(since time.Duration) string {
		line := fmt.Sprintf("tick %s, %s live items, %s events, %s", report.Count(r.model.tick),
			report.Count(r.model.len()), report.Count(r.events), report.Rate(r.events-f.done, since))
		if f.done = r.events; src.size > 0 {
			line += fmt.Sprintf(", %d %% read", 100*src.read/src.size)
		}
		return line
	})
}

// tell prints the results; the verdict comes last.
func (p *command) tell(s settings, r *replay, f *following, o cli.Verdict) int {
	if o.Exit != exitBad {
		fmt.Fprintf(f.out, "ticks %s, tables %s, shards %d of each table\n\n",
			report.Count(r.model.tick), report.Count(len(r.model.tables)), r.shards)
		rows := r.rows()
		writeTable(f.out, rows)
		fmt.Fprintln(f.out)
		writeTypes(f.out, r.types())
		fmt.Fprintln(f.out)
		writeBeside(f.out, rows, r.model)
		fmt.Fprintln(f.out)
	}
	for _, m := range r.mismatches {
		fmt.Fprintln(f.out, "mismatch:", m)
		f.Failures = append(f.Failures, pageFailure{What: m.String(), Replay: f.Command})
	}
	f.Totals, f.Charts = r.totals(), r.charts(r.rows(), r.types())
	o = p.report(f, o)
	if s.json != "" {
		if err := p.writeJSON(s, r, o); err != nil {
			o = p.unwritten("-json", err, o)
		}
	}
	fmt.Fprintln(f.out, o)
	return o.Exit
}

func (p *command) writeJSON(s settings, r *replay, o cli.Verdict) error {
	text, err := r.document(s, o)
	if err != nil {
		return err
	}
	return p.write(s.json, text)
}

// write writes text to a file, or to standard output for "-".
func (p *command) write(file string, text []byte) error {
	if file == "-" {
		_, err := p.stdout.Write(text)
		return err
	}
	return cli.WriteFile(file, text)
}
