package goalloc

import (
	"errors"
	"fmt"
	"io"

	"handloom/internal/trace"
)

// DefaultTables is how many tables a trace has at most if Options do not say.
const DefaultTables = 64

// Options say what trace to make. The zero Options are ready to use.
type Options struct {
	// Tables is how many tables the trace has at most, that of the goroutines
	// included: 2 to 1024, or 0 for DefaultTables. The rarest types share the
	// last one.
	Tables int

	// MaxEvents, if above 0, ends the trace with the last tick up to which it
	// has no more than so many C, U and E lines. Text behind that is not read.
	MaxEvents int

	// Types are the names of the types, or nil if only their numbers are known.
	Types *TypeNames
}

// Convert reads what "go tool trace -d=parsed FILE" prints of an execution
// trace taken with GODEBUG=traceallocfree=1, and writes the object lifetimes
// in it as a trace. The package comment says what becomes of what. The name is
// what errors call the text. To compress, give it a gzip.Writer as out.
//
// Convert takes O(n log n) time in the lines read. It keeps about 16 bytes of
// memory for each event and writes when all is read, so that nothing of a
// malformed text is written: that is a [*trace.Error] with the line. A text without heap
// objects is one too. Options out of range and a failing writer are other
// errors; the Summary is of use only without an error.
func Convert(in io.Reader, name string, out io.Writer, options Options) (Summary, error) {
	if err := options.validate(); err != nil {
		return Summary{}, err
	}
	if options.Tables == 0 {
		options.Tables = DefaultTables
	}
	h := newHistory(options.Types)
	src := newSource(in, name, 1<<20)
	cut, err := h.read(src, options.MaxEvents)
	if err != nil {
		return Summary{}, err
	}
	l := newLayout(h, options.Tables)
	sum := Summary{Lines: src.line, Tables: l.tables, Cut: cut, Skipped: h.skipped, Repaired: h.repaired}
	if err := write(h, l, out, &sum); err != nil {
		return Summary{}, fmt.Errorf("goalloc: writing the trace: %w", err)
	}
	return sum, nil
}

func (o Options) validate() error {
	var errs []error
	if o.Tables != 0 && (o.Tables < 2 || o.Tables > trace.MaxTable+1) {
		errs = append(errs, fmt.Errorf("goalloc: Tables is %d; want 2 to %d, or 0 for %d", o.Tables, trace.MaxTable+1, DefaultTables))
	}
	if o.MaxEvents < 0 {
		errs = append(errs, fmt.Errorf("goalloc: MaxEvents is %d; want 0 or more", o.MaxEvents))
	}
	return errors.Join(errs...)
}

var errNoObjects = errors.New("no heap objects in the text; take the trace with: " +
	"GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg && go tool trace -d=parsed out.trace")

// read takes in all lines of src, or those up to the tick that would exceed
// maxEvents, and reports whether it stopped there.
func (h *history) read(src *source, maxEvents int) (cut bool, err error) {
	for {
		text, ok := src.next()
		if !ok {
			break
		}
		l, err := parseLine(text)
		if err == nil {
			err = h.add(l)
		}
		if err == nil && maxEvents > 0 && h.events > maxEvents {
			if h.cut() {
				cut = true
				break
			}
			err = fmt.Errorf("the first tick alone has more than %d events, the most that were asked for", maxEvents)
		}
		if err != nil {
			return false, src.fault(err)
		}
	}
	if err := src.err(); err != nil {
		return false, err
	}
	if !h.heapSeen {
		return false, src.fault(errNoObjects)
	}
	return cut, nil
}
