package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"handloom/bench/internal/measure"
)

// progress tells how far the measuring is: a line that is written over on a
// terminal, and new lines further apart elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	begun    time.Time
	due      time.Time // of the next line
	width    int       // of the line that stands on the terminal
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, begun: time.Now()}
	if f, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	p.due = p.begun.Add(p.pause())
	return p
}

func (p *progress) pause() time.Duration {
	if p.terminal {
		return 200 * time.Millisecond
	}
	return 5 * time.Second
}

// show prints a line if one is due.
func (p *progress) show(at measure.Progress) {
	now := time.Now()
	if now.Before(p.due) {
		return
	}
	p.due = now.Add(p.pause())
	line := fmt.Sprintf("%3d %%  %s", 100*at.Done/at.Total, at.Case.Name())
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	fmt.Fprintf(p.out, "\r%-*s", p.width, line)
	p.width = len(line)
}

// done takes the line off the terminal.
func (p *progress) done() {
	if p.width > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.width))
	}
}
