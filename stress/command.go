package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"time"

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
	for _, f := range s.files() {
		if err := checkOut(f.name); err != nil {
			return p.failed(command, fmt.Errorf("%s: %w", f.flag, err))
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
	shown := newReplayPage(s, src.name)
	return p.tell(s, r, shown, p.play(ctx, s, r, shown, src))
}

// human is where text for people goes.
func (p *command) human(s settings) io.Writer {
	if s.json == "-" {
		return p.stderr
	}
	return p.stdout
}

// play runs the replay, with progress.
func (p *command) play(ctx context.Context, s settings, r *replay, page *replayPage, src *source) outcome {
	fmt.Fprintf(p.human(s), "%s\n%s, %s %s/%s, GOMAXPROCS %d\n", s.command(),
		src.name, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	shown := newProgress(p.stderr, src, time.Now)
	r.onTick = func(r *replay) {
		shown.tick(r)
		page.tick(r)
	}
	err := r.run(ctx, src)
	shown.done()
	o := r.outcome(err)
	o.exit = bySignal(ctx, o.exit)
	if o.exit == exitBad {
		p.bad(err)
	}
	return o
}

// tell prints the results; the verdict comes last.
func (p *command) tell(s settings, r *replay, page *replayPage, o outcome) int {
	out := p.human(s)
	if o.exit != exitBad {
		fmt.Fprintf(out, "ticks %s, tables %s, shards %d of each table\n\n",
			report.Count(r.model.tick), report.Count(len(r.model.tables)), r.shards)
		rows := r.rows()
		writeTable(out, rows)
		fmt.Fprintln(out)
		writeTypes(out, r.types())
		fmt.Fprintln(out)
		writeBeside(out, rows, r.model)
		fmt.Fprintln(out)
	}
	for _, m := range r.mismatches {
		fmt.Fprintln(out, "mismatch:", m)
	}
	if s.html != "" {
		if err := page.write(s.html, r, o); err != nil {
			p.bad(err)
			o = outcome{"failed", exitBad, "the outcome was " + o.verdict + ", but -html could not be written"}
		}
	}
	if s.json != "" {
		if err := p.writeJSON(s, r, o); err != nil {
			p.bad(err)
			o = outcome{"failed", exitBad, "the outcome was " + o.verdict + ", but -json could not be written"}
		}
	}
	fmt.Fprintln(out, o)
	return o.exit
}

func (p *command) writeJSON(s settings, r *replay, o outcome) error {
	text, err := r.document(s, o)
	if err != nil {
		return err
	}
	if s.json == "-" {
		_, err = p.stdout.Write(text)
		return err
	}
	return writeOut(s.json, text)
}
