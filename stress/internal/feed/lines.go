package feed

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Lines is a sink that writes each event as one JSON object on a line of its
// own, at once, so that a reader of a pipe follows the run.
type Lines struct {
	out io.Writer
	err error // the first; nothing is written after it
}

// NewLines returns a sink that writes to out. Closing out is the caller's.
func NewLines(out io.Writer) *Lines { return &Lines{out: out} }

// Event writes e.
func (l *Lines) Event(e Event) {
	if l.err != nil {
		return
	}
	text, err := json.Marshal(e)
	if err == nil {
		_, err = l.out.Write(append(text, '\n'))
	}
	l.err = err
}

// Close returns the first error of writing.
func (l *Lines) Close() error { return l.err }

// Read iterates over the events that a [Lines] wrote, until the first error.
// Events of another version are one; unknown fields are not.
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		in := bufio.NewReader(r)
		for line := 1; ; line++ {
			text, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(text) == 0 {
				return
			}
			var e Event
			if err == nil || errors.Is(err, io.EOF) {
				err = json.Unmarshal(text, &e)
			}
			if err == nil && e.Version != Version {
				err = fmt.Errorf("version %d; want %d", e.Version, Version)
			}
			if err != nil {
				yield(Event{}, fmt.Errorf("event %d: %w", line, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
