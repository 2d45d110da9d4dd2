package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Progress shows the progress of a run: one overwritten line on a terminal,
// otherwise new lines at longer intervals.
type Progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	last  time.Time // last line or start of the run
	due   time.Time
	width int
}

const (
	firstLine     = 200 * time.Millisecond
	terminalEvery = 250 * time.Millisecond
	plainEvery    = 2 * time.Second
)

func NewProgress(out io.Writer, now func() time.Time) *Progress {
	p := &Progress{out: out, now: now, last: now()}
	if f, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	p.due = p.last.Add(firstLine)
	return p
}

// Show shows a line if one is due. line gets the time since the last line.
func (p *Progress) Show(line func(since time.Duration) string) {
	now := p.now()
	if now.Before(p.due) {
		return
	}
	text := line(now.Sub(p.last))
	if p.last = now; p.terminal {
		fmt.Fprintf(p.out, "\r%-*s", p.width, text)
		p.width, p.due = len(text), now.Add(terminalEvery)
		return
	}
	fmt.Fprintln(p.out, text)
	p.due = now.Add(plainEvery)
}

func (p *Progress) Clear() {
	if p.width > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
