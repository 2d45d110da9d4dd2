package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"handloom/internal/report"
)

// progress tells how far a replay is: a line that is written over on a
// terminal, and new lines further apart elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	from     *source

	begun  time.Time // of what the next line tells
	events int       // replayed by then
	due    time.Time // of the next line
	width  int       // of the line that stands on the terminal
}

const (
	terminalEvery = 250 * time.Millisecond
	plainFirst    = 200 * time.Millisecond
	plainEvery    = 2 * time.Second
)

func newProgress(out io.Writer, from *source, now func() time.Time) *progress {
	p := &progress{out: out, terminal: isTerminal(out), now: now, from: from, begun: now()}
	p.due = p.begun.Add(plainFirst)
	return p
}

// isTerminal reports whether lines on w can be written over.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// tick prints a line if one is due.
func (p *progress) tick(r *replay) {
	now := p.now()
	if now.Before(p.due) {
		return
	}
	line := fmt.Sprintf("tick %s, %s live items, %s events, %s", report.Count(r.model.tick),
		report.Count(r.model.len()), report.Count(r.events), report.Rate(r.events-p.events, now.Sub(p.begun)))
	if p.from.size > 0 {
		line += fmt.Sprintf(", %d %% read", 100*p.from.read/p.from.size)
	}
	p.begun, p.events = now, r.events
	p.write(now, line)
}

// line prints text if a line is due.
func (p *progress) line(text string) {
	if now := p.now(); !now.Before(p.due) {
		p.write(now, text)
	}
}

// write prints a line and says when the next is due.
func (p *progress) write(now time.Time, line string) {
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		p.due = now.Add(plainEvery)
		return
	}
	fmt.Fprintf(p.out, "\r%-*s", p.width, line)
	p.width = len(line)
	p.due = now.Add(terminalEvery)
}

// done takes the line off the terminal.
func (p *progress) done() {
	if p.width > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
