package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Writer writes a trace that [Reader] gives back as the same events. It
// buffers; [Writer.Close] or [Writer.Flush] must come last. Methods without a
// result keep the first error for those two, and write nothing after it.
//
// A Writer knows the format, not the lifetimes: a [Checker] does. For a
// compressed trace give it a gzip.Writer, and close that one afterwards.
type Writer struct {
	out    *bufio.Writer
	begun  bool // the header is written
	err    error
	fields []byte // the line in the making
}

// NewWriter returns a Writer to w. It writes nothing yet.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, bufferSize)}
}

// Header writes the first line. Every other method does so if it was not
// called; a second call does nothing.
func (w *Writer) Header() {
	if w.begun {
		return
	}
	w.begun = true
	w.write([]byte(header + "\n"))
}

// Tick writes the end of a batch.
func (w *Writer) Tick() { w.Event(Event{Kind: Tick}) }

// Create writes that an item appears.
func (w *Writer) Create(table uint16, key uint64) {
	w.Event(Event{Kind: Create, Table: table, Key: key})
}

// Update writes that an item changes.
func (w *Writer) Update(table uint16, key uint64) {
	w.Event(Event{Kind: Update, Table: table, Key: key})
}

// Erase writes that an item disappears.
func (w *Writer) Erase(table uint16, key uint64) {
	w.Event(Event{Kind: Erase, Table: table, Key: key})
}

// Event writes e and ignores e.Line. A table above [MaxTable] and an unknown
// kind are errors.
func (w *Writer) Event(e Event) {
	w.Header()
	line := append(w.fields[:0], byte(e.Kind))
	switch e.Kind {
	case Tick:
	case Create, Update, Erase:
		if e.Table > MaxTable {
			w.fail(fmt.Errorf("trace: table %d is out of range 0..%d", e.Table, MaxTable))
			return
		}
		line = strconv.AppendUint(append(line, ' '), uint64(e.Table), 10)
		line = strconv.AppendUint(append(line, ' '), e.Key, 10)
	default:
		w.fail(fmt.Errorf("trace: event of unknown kind %q", byte(e.Kind)))
		return
	}
	w.fields = append(line, '\n')
	w.write(w.fields)
}

// Name writes a comment that says what the items of a table are; it belongs before
// their events.
func (w *Writer) Name(table uint16, name string) {
	w.Comment(fmt.Sprintf("table %d: %s", table, strings.ReplaceAll(name, "\n", " ")))
}

// Comment writes text behind a hash. Each line of it becomes a comment of its
// own; a line too long for the format is cut; bytes that do not print become
// question marks.
func (w *Writer) Comment(text string) {
	w.Header()
	const prefix = "# "
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Map(printable, line)
		line = line[:min(len(line), MaxLine-len(prefix))]
		w.write([]byte(strings.TrimRight(prefix+line, " ") + "\n"))
	}
}

func printable(c rune) rune {
	if c == unicode.ReplacementChar || !unicode.IsPrint(c) {
		return '?'
	}
	return c
}

// Flush hands what is buffered to the underlying writer and returns the first
// error of this Writer.
func (w *Writer) Flush() error {
	w.Header()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// Close is Flush and the last call: what is written after it stays in the
// buffer. It does not close the underlying writer.
func (w *Writer) Close() error { return w.Flush() }

func (w *Writer) write(line []byte) {
	if w.err != nil {
		return
	}
	_, w.err = w.out.Write(line)
}

// fail keeps err unless an earlier one is kept.
func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
