package trace

import (
	"bufio"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// Sample is a compressed trace of the tests of shard/handlemap, made by the
// commands in sample/README.txt.
//
//go:embed sample/handlemap.trace.gz
var Sample []byte

const (
	MaxTable = 1023
	MaxLine  = 4096 // bytes, without the line end
)

// Kind is the first letter of an event's line.
type Kind byte

const (
	Create Kind = 'C'
	Update Kind = 'U' // an item changes
	Erase  Kind = 'E'
)

// Event is one line of a trace, except T.
type Event struct {
	Kind  Kind
	Table uint16 // 0..MaxTable
	Key   uint64
	Line  int
}

// Error is an error in a trace file. It prints as file:line: reason.
type Error struct {
	File   string
	Line   int // from 1
	Reason string
	Err    error // error of the input or its decompression, or nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// reader reads the lines of a trace and knows its live keys.
type reader struct {
	in   *bufio.Reader // longer than MaxLine, so that a line is one slice of it
	name string
	line int // last line read
	live map[item]int
}

// item is a key of a table; its value in live is the line of its create.
type item struct {
	table uint16
	key   uint64
}

// Ticks iterates over the batches of the trace in, plain or gzip: the events
// before the next T or the end of the file. A batch is valid until the next one.
// An error is the last pair, an [*Error] without events, so that no part of its
// batch is replayed. It keeps the live keys, about 40 bytes each. Errors call the
// file name.
func Ticks(in io.Reader, name string) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		r := &reader{in: bufio.NewReaderSize(in, 64<<10), name: name, live: make(map[item]int)}
		err := r.begin()
		for events := []Event(nil); err == nil; events = events[:0] {
			if events, err = r.tick(events); err == io.EOF && len(events) > 0 || err == nil {
				if !yield(events, nil) {
					return
				}
			}
		}
		if err != io.EOF {
			yield(nil, err)
		}
	}
}

// begin reads the header, after the two bytes of gzip if the trace is compressed.
func (r *reader) begin() error {
	magic, err := r.in.Peek(2)
	if string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(r.in)
		if err != nil {
			return r.unreadable(err)
		}
		r.in = bufio.NewReaderSize(unzipped, 64<<10)
	} else if err != nil && err != io.EOF {
		return r.unreadable(err)
	}
	const header = "handloom-trace 1"
	line, err := r.readLine()
	text, _, _ := strings.Cut(line, "#")
	switch {
	case err == io.EOF:
		return r.fail("the file is empty; its first line should be %q", header)
	case err != nil:
		return err
	case strings.Trim(text, " \t") != header:
		return r.fail("the first line is %.40q; it should be %q", line, header)
	}
	return nil
}

// tick appends the events of a batch. At the end of the file it returns [io.EOF].
func (r *reader) tick(events []Event) ([]Event, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return events, err
		}
		text, _, _ := strings.Cut(line, "#")
		fields := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' })
		if len(fields) == 1 && fields[0] == "T" {
			return events, nil
		}
		if len(fields) == 0 {
			continue
		}
		e, err := r.event(fields)
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

// readLine returns the next line without its line end.
func (r *reader) readLine() (string, error) {
	line, err := r.in.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		return "", io.EOF
	case err != nil && err != io.EOF && err != bufio.ErrBufferFull:
		// The rest of the line is not shown: half a number is another number.
		return "", r.unreadable(err)
	}
	r.line++
	text := strings.TrimSuffix(string(line), "\n")
	switch {
	case len(text) > MaxLine:
		return "", r.fail("the line is longer than %d bytes", MaxLine)
	case strings.HasSuffix(text, "\r"):
		return "", r.fail("the line ends in CR LF; lines of a trace end in LF alone")
	}
	return text, nil
}

// unreadable returns the error of an input that fails after the last line.
func (r *reader) unreadable(err error) error {
	reason := fmt.Sprintf("reading failed after this line: %v", err)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		reason = "the gzip data is cut off after this line"
	}
	return &Error{File: r.name, Line: max(r.line, 1), Reason: reason, Err: err}
}

// fail returns an error of the last line.
func (r *reader) fail(format string, args ...any) error {
	return &Error{File: r.name, Line: max(r.line, 1), Reason: fmt.Sprintf(format, args...)}
}
