package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"handloom/internal/report"
	"handloom/stress/internal/feed"
	"handloom/stress/internal/page"
)

// outputs are where a run is followed besides the terminal, as flags name them.
type outputs struct {
	json   string // events, one a line; "": none, "-": standard output
	html   string // the report at the end; "": none
	http   string // address of the live page; "": none
	public bool   // the address may be one that others can reach
}

func (o *outputs) define(flags *flag.FlagSet) {
	flags.StringVar(&o.json, "json", "", "")
	flags.StringVar(&o.html, "html", "", "")
	flags.StringVar(&o.http, "http", "", "")
	flags.BoolVar(&o.public, "http-public", false, "")
}

// check returns what the flags cannot mean.
func (o *outputs) check() error {
	switch {
	case o.public && o.http == "":
		return errors.New("-http-public says nothing without -http")
	case o.html == "-":
		return errors.New("-html wants a file")
	case o.html != "" && o.json != "" && (o.html == o.json || sameFile(o.html, o.json)):
		return fmt.Errorf("-json and -html would both write %s", o.html)
	}
	return nil
}

// outFile is a file that a flag names.
type outFile struct{ flag, name string }

// files returns those that are written.
func (o *outputs) files() (all []outFile) {
	for _, f := range []outFile{{"-json", o.json}, {"-html", o.html}} {
		if f.name != "" && f.name != "-" {
			all = append(all, f)
		}
	}
	return all
}

// command returns the flags of a command line that repeats them.
func (o *outputs) command() string {
	var b strings.Builder
	for _, f := range []struct{ name, value string }{{"-json", o.json}, {"-html", o.html}, {"-http", o.http}} {
		if f.value != "" {
			b.WriteString(" " + f.name + " " + quote(f.value))
		}
	}
	if o.public {
		b.WriteString(" -http-public")
	}
	return b.String()
}

// following is an open set of outputs.
type following struct {
	*feed.Feed
	outputs
	human  io.Writer
	shown  *shown
	kept   feed.Collector // for the report
	lines  *os.File       // nil: none, or standard output
	served *page.Live     // nil: none
}

// follow opens the outputs. Text for people goes to human from then on, which is
// standard error if events take standard output.
func (p *program) follow(o outputs) (*following, error) {
	f := &following{outputs: o, human: p.stdout, shown: &shown{progress: newProgress(p.stderr, nil, time.Now)}}
	sinks := []feed.Sink{f.shown, &f.kept}
	if o.html != "" {
		if err := checkOut(o.html); err != nil {
			return nil, fmt.Errorf("-html: %w", err)
		}
	}
	events, err := p.openEvents(f)
	if err != nil {
		return nil, fmt.Errorf("-json: %w", err)
	}
	if events != nil {
		sinks = append(sinks, feed.NewLines(events))
	}
	if o.http != "" {
		if f.served, err = page.Serve(o.http, o.public); err != nil {
			return nil, errors.Join(fmt.Errorf("-http: %w", err), f.closeLines())
		}
		sinks = append(sinks, f.served)
	}
	f.Feed = feed.New(sinks...)
	return f, nil
}

// openEvents returns what events are written to, or nil.
func (p *program) openEvents(f *following) (_ io.Writer, err error) {
	switch f.json {
	case "":
		return nil, nil
	case "-":
		f.human = p.stderr
		return p.stdout, nil
	}
	f.lines, err = os.Create(f.json)
	return f.lines, err
}

// begin says what runs: its first line on the terminal repeats it.
func (f *following) begin(s feed.Start) {
	f.Start(s)
	start := f.kept.Start
	fmt.Fprintf(f.human, "%s\n%s, %s %s, GOMAXPROCS %d\n", start.Command, start.Title, start.Go, start.Platform, start.GOMAXPROCS)
	if f.served != nil {
		fmt.Fprintf(f.human, "live page: %s\n", f.served.URL())
	}
}

// finish writes the report, says the verdict and closes everything. What could
// not be written is in the verdict that it returns, and costs a run that passed
// its exit code.
func (f *following) finish(v feed.Verdict) (feed.Verdict, error) {
	var errs []error
	if f.html != "" {
		if err := f.report(v); err != nil {
			errs = append(errs, fmt.Errorf("-html: %w", err))
			v = unwritten(v, "-html")
		}
	}
	f.Verdict(v)
	if err := errors.Join(f.Close(), f.closeLines()); err != nil {
		errs = append(errs, fmt.Errorf("-json or -http: %w", err))
		v = unwritten(v, "-json or -http")
	}
	return v, errors.Join(errs...)
}

func (f *following) closeLines() error {
	if f.lines == nil {
		return nil
	}
	return f.lines.Close()
}

func (f *following) report(v feed.Verdict) error {
	kept := f.kept.Clone()
	kept.Verdict, kept.Elapsed = &v, f.Elapsed()
	var text bytes.Buffer
	if err := page.Report(&text, kept); err != nil {
		return err
	}
	return writeOut(f.html, text.Bytes())
}

// unwritten returns the verdict of a run whose output could not be written.
func unwritten(v feed.Verdict, what string) feed.Verdict {
	v.Reason = fmt.Sprintf("%s could not be written; the outcome was %s: %s", what, v.Verdict, v.Reason)
	if v.ExitCode == 0 {
		v.Verdict, v.ExitCode = "failed", exitBad
	}
	return v
}

// shown is a sink that tells samples and progress on the terminal.
type shown struct {
	progress *progress
	unit     string
}

// Event shows e if a line is due.
func (s *shown) Event(e feed.Event) {
	switch e.Kind {
	case feed.KindStart:
		s.unit = e.Start.Unit
	case feed.KindProgress:
		s.progress.line(e.Progress.Text)
	case feed.KindSample:
		x := e.Sample
		s.progress.line(fmt.Sprintf("tick %s, %s late, %s live items, %s %s, p99 of ticks %s, of flushes %s",
			report.Count(x.Ticks), report.Count(x.Late), report.Count(x.Live), report.Rate(x.Operations, x.Interval), s.unit,
			report.Duration(x.Tick.P99), report.Duration(x.Flush.P99)))
	}
}

// Close takes the line off the terminal.
func (s *shown) Close() error {
	s.progress.done()
	return nil
}
