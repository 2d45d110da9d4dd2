package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// MaxLine is the maximum length of a line in bytes, without its line end.
const MaxLine = 4096

const (
	headerWord = "handloom-trace"
	header     = headerWord + " 1"
)

// Reader streams the events of one trace, in constant memory.
type Reader struct {
	name string
	in   *bufio.Reader // the buffer is longer than MaxLine, so that a line is one slice of it
	line int
	err  error // returned by every later call
}

// NewReader returns a Reader of the trace in r, plain or gzip, after reading
// its first line. Errors call the file name. NewReader returns an [*Error] if
// the header is missing, wrong or of another version, or r fails. The caller
// closes r after the last event.
func NewReader(r io.Reader, name string) (*Reader, error) {
	t := &Reader{name: name}
	in, err := open(r)
	if err != nil {
		return nil, t.fail(readReason(err), err)
	}
	t.in = in
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	return t, nil
}

// Next returns the next event, or [io.EOF] after the last one. Other errors are
// [*Error]. After an error, every call returns the same error. Next allocates
// nothing.
func (t *Reader) Next() (Event, error) {
	for t.err == nil {
		line, err := t.readLine()
		if err != nil {
			return Event{}, err
		}
		e, reason := parseLine(line)
		if reason != "" {
			return Event{}, t.fail(reason, nil)
		}
		if e.Kind != 0 {
			e.Line = t.line
			return e, nil
		}
	}
	return Event{}, t.err
}

// Ticks iterates over the batches: the events before the next T or the end of
// the file. A batch is valid until the next one. An error is the last pair, an
// [*Error] without events, so that no part of its batch is replayed.
func (t *Reader) Ticks() iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		var events []Event
		for {
			e, err := t.Next()
			switch {
			case err == nil && e.Kind != Tick:
				events = append(events, e)
				continue
			case err == io.EOF && len(events) == 0:
				return
			case err != nil && err != io.EOF:
				yield(nil, err)
				return
			}
			if !yield(events, nil) {
				return
			}
			events = events[:0]
		}
	}
}

func (t *Reader) readHeader() error {
	line, err := t.readLine()
	if errors.Is(err, io.EOF) {
		return t.fail(fmt.Sprintf("the file is empty; its first line should be %q", header), nil)
	}
	if err != nil {
		return err
	}
	text, _, _ := strings.Cut(string(line), "#")
	text = strings.Trim(text, " \t")
	if text == header {
		return nil
	}
	if version, ok := strings.CutPrefix(text, headerWord+" "); ok {
		return t.fail(fmt.Sprintf("trace version %s is not known here; want version 1", quote([]byte(version))), nil)
	}
	return t.fail(fmt.Sprintf("the first line is %s; it should be %q", quote(line), header), nil)
}

// readLine returns the next line without its line end, valid until the next
// call.
func (t *Reader) readLine() ([]byte, error) {
	line, err := t.in.ReadSlice('\n')
	if err == nil {
		line = line[:len(line)-1]
	}
	switch {
	case len(line) > MaxLine:
		t.line++
		return nil, t.fail(fmt.Sprintf("the line is longer than %d bytes", MaxLine), nil)
	case err == nil:
	case err == io.EOF && len(line) == 0:
		t.err = io.EOF
		return nil, io.EOF
	case err != io.EOF:
		// The rest of the line is not shown: half a number is another number.
		return nil, t.fail(readReason(err), err)
	}
	t.line++
	if len(line) > 0 && line[len(line)-1] == '\r' {
		return nil, t.fail("the line ends in CR LF; lines of a trace end in LF alone", nil)
	}
	return line, nil
}

// fail makes the error of this and every later call. Before the first line is
// read, the line is 1.
func (t *Reader) fail(reason string, cause error) error {
	t.err = &Error{File: t.name, Line: max(t.line, 1), Reason: reason, Err: cause}
	return t.err
}
