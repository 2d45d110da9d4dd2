package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"handloom/stress/internal/page"
)

// outputs are the files that flags name.
type outputs struct {
	json string // one document, of a replay; "": none, "-": standard output
	html string // report; "": none
}

// check returns why the flags contradict each other.
func (o *outputs) check() error {
	switch {
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
	for _, f := range []outFile{{"-json", o.json}, {"-html", o.html}} {
		if f.name != "" {
			b.WriteString(" " + f.flag + " " + quote(f.name))
		}
	}
	return b.String()
}

// following is a run of random programs on the terminal and in its report.
type following struct {
	page.Run
	out      io.Writer
	progress *progress
	html     string // "": no report
	begun    time.Time
	done     int // operations
}

// follow begins a run: the first line on the terminal repeats it.
func (p *command) follow(h harnessing, title string) (*following, error) {
	if h.html != "" {
		if err := checkOut(h.html); err != nil {
			return nil, fmt.Errorf("-html: %w", err)
		}
	}
	f := &following{
		Run: page.Run{Title: title, Command: h.line(), Unit: "operations", Facts: h.details()},
		out: p.stdout, progress: newProgress(p.stderr, nil, time.Now), html: h.html, begun: time.Now(),
	}
	fmt.Fprintf(f.out, "%s\n%s, %s %s/%s, GOMAXPROCS %d\n", f.Command, title, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	return f, nil
}

// tell shows a line of progress, with the operations since the line before.
func (f *following) tell(line string, operations int) {
	f.done += operations
	f.Add(page.Point{At: time.Since(f.begun), Done: f.done})
	f.progress.line(line)
}

// end writes the report and prints the verdict, last. A report that cannot be written
// costs a run that passed its exit code.
func (p *command) end(f *following, o outcome) int {
	f.progress.done()
	if f.html != "" {
		f.Verdict, f.ExitCode, f.Elapsed = o.String(), o.exit, time.Since(f.begun)
		if err := writePage(f.html, f.Run); err != nil {
			p.bad(fmt.Errorf("-html: %w", err))
			o.reason = fmt.Sprintf("-html could not be written; the outcome was %s: %s", o.verdict, o.reason)
			if o.exit == exitVerified {
				o.verdict, o.exit = "failed", exitBad
			}
		}
	}
	fmt.Fprintln(f.out, o)
	return o.exit
}

func writePage(file string, r page.Run) error {
	var text bytes.Buffer
	if err := page.Write(&text, r); err != nil {
		return err
	}
	return writeOut(file, text.Bytes())
}
