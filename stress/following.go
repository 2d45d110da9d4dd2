package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"time"

	"handloom/internal/cli"
)

// following is a run on the terminal and in its report.
type following struct {
	runPage
	out      io.Writer // for people
	progress *cli.Progress
	html     string // "": no report
	begun    time.Time
	last     time.Duration // of the last point of a replay
	done     int           // operations, or events of a replay
}

// follow begins a run: the first line on the terminal repeats it.
func (p *command) follow(out io.Writer, html string, r runPage) (*following, error) {
	if html != "" {
		if err := cli.CheckFile(html); err != nil {
			return nil, fmt.Errorf("-html: %w", err)
		}
	}
	f := &following{runPage: r, out: out, progress: cli.NewProgress(p.stderr, time.Now), html: html, begun: time.Now()}
	fmt.Fprintf(out, "%s\n%s, %s %s/%s, GOMAXPROCS %d\n", r.Command, r.Title, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	return f, nil
}

// tell shows a line of progress, with the operations since the line before.
func (f *following) tell(line string, operations int) {
	f.done += operations
	f.addPoint(pagePoint{At: time.Since(f.begun), Done: f.done})
	f.progress.Show(func(time.Duration) string { return line })
}

// end writes the report and prints the verdict, last.
func (p *command) end(f *following, o cli.Verdict) int {
	f.progress.Clear()
	o = p.report(f, o)
	fmt.Fprintln(f.out, o)
	return o.Exit
}

// report writes the report, and returns the verdict of the run with it.
func (p *command) report(f *following, o cli.Verdict) cli.Verdict {
	if f.html == "" {
		return o
	}
	f.Verdict, f.ExitCode, f.Elapsed = o.String(), o.Exit, time.Since(f.begun)
	var text bytes.Buffer
	err := renderPage(&text, f.runPage)
	if err == nil {
		err = cli.WriteFile(f.html, text.Bytes())
	}
	if err != nil {
		return p.unwritten("-html", err, o)
	}
	return o
}

// unwritten returns the verdict of a run whose output could not be written. A run that
// passed loses its exit code.
func (p *command) unwritten(flag string, err error, o cli.Verdict) cli.Verdict {
	p.bad(fmt.Errorf("%s: %w", flag, err))
	o.Reason = fmt.Sprintf("%s could not be written; the outcome was %s: %s", flag, o.Name, o.Reason)
	if o.Exit == exitVerified {
		o.Name, o.Exit = "failed", exitBad
	}
	return o
}
