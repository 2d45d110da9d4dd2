package main

import (
	"bytes"
	"fmt"
	"runtime"
	"time"

	"handloom/internal/cli"
)

type following struct {
	runPage
	progress *cli.Progress
	html     string // "": no report
	begun    time.Time
	last     time.Duration
	done     int
}

func (p *command) follow(html string, r runPage) (*following, error) {
	if html != "" {
		if err := cli.CheckFile(html); err != nil {
			return nil, fmt.Errorf("-html: %w", err)
		}
	}
	f := &following{runPage: r, progress: cli.NewProgress(p.stderr, time.Now), html: html, begun: time.Now()}
	fmt.Fprintf(p.stdout, "%s\n%s, %s %s/%s, GOMAXPROCS %d\n", r.Command, r.Title, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	return f, nil
}

func (f *following) addPoint(done int) {
	f.last = time.Since(f.begun)
	f.runPage.addPoint(f.last, done)
}

// operations counts from the last line.
func (f *following) notify(line string, operations int) {
	f.done += operations
	f.addPoint(f.done)
	f.progress.Show(func(time.Duration) string { return line })
}

// end writes the report and prints the verdict last.
func (p *command) end(f *following, o cli.Verdict) int {
	o = p.finish(f, o)
	fmt.Fprintln(p.stdout, o)
	return o.Exit
}

// finish writes the report and returns the verdict. A failed report fails the run.
func (p *command) finish(f *following, o cli.Verdict) cli.Verdict {
	f.progress.Clear()
	if err := f.report(o); err != nil {
		p.bad(fmt.Errorf("-html: %w", err))
		o.Reason = fmt.Sprintf("-html could not be written; the outcome was %s: %s", o.Name, o.Reason)
		if o.Exit == exitVerified {
			o.Name, o.Exit = "failed", exitBad
		}
	}
	return o
}

func (f *following) report(o cli.Verdict) error {
	if f.html == "" {
		return nil
	}
	f.Verdict, f.ExitCode, f.Elapsed = o.String(), o.Exit, time.Since(f.begun)
	var text bytes.Buffer
	if err := renderPage(&text, f.runPage); err != nil {
		return err
	}
	return cli.WriteFile(f.html, text.Bytes())
}
