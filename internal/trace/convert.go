package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	exptrace "golang.org/x/exp/trace"
)

// DefaultTables is the number of tables of the zero ConvertOptions.
const DefaultTables = 64

// ConvertOptions bound a trace. The zero ConvertOptions are ready to use.
type ConvertOptions struct {
	// Tables is the max number of tables, with the table of goroutines: 2 to
	// 1024, default DefaultTables. The rarest types share the last one.
	Tables int

	// MaxEvents is the max number of C, U and E lines, default no limit. The
	// trace ends with the last whole tick within it.
	MaxEvents int
}

// Convert reads an execution trace and writes its object lifetimes as a trace.
// To compress, pass a gzip.Writer as out.
//
// Convert takes O(n log n) time in the events and keeps about 16 bytes for each.
// It writes after the last event is read: a malformed input writes nothing.
func Convert(in io.Reader, out io.Writer, options ConvertOptions) (Summary, error) {
	if options.Tables == 0 {
		options.Tables = DefaultTables
	}
	h := newHistory()
	cut, err := h.read(in, options.MaxEvents)
	if err != nil {
		return Summary{}, err
	}
	sum, err := h.write(out, options.Tables)
	sum.Cut = cut
	return sum, err
}

var errNoObjects = errors.New("no heap objects; take the trace with: GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg")

// read adds all events of in, or the ticks with at most maxEvents events, and
// reports whether it stopped there.
func (h *goHistory) read(in io.Reader, maxEvents int) (cut bool, err error) {
	r, err := exptrace.NewReader(in)
	if err != nil {
		return false, err
	}
	for {
		e, err := r.ReadEvent()
		switch {
		case err == io.EOF && !h.hasObjects:
			return false, errNoObjects
		case err == io.EOF:
			return false, nil
		case err == nil:
			err = h.add(e)
		}
		if err != nil {
			return false, err
		}
		if maxEvents > 0 && h.events > maxEvents {
			return true, h.cut(maxEvents)
		}
	}
}

func (h *goHistory) add(e exptrace.Event) error {
	switch e.Kind() {
	case exptrace.EventSync:
		return h.generation(e.Time(), e.Sync().ExperimentalBatches["AllocFree"])
	case exptrace.EventStateTransition:
		if s := e.StateTransition(); s.Resource.Kind == exptrace.ResourceGoroutine {
			from, to := s.Goroutine()
			return h.goroutine(e.Time(), uint64(s.Resource.Goroutine()), from, to)
		}
	case exptrace.EventExperimental:
		x := e.Experimental()
		var args [3]uint64
		for i := range min(len(args), len(x.Args)) {
			if v := x.ArgValue(i); v.Kind() == exptrace.ValueUint64 {
				args[i] = v.Uint64()
			}
		}
		switch x.Name {
		case "Span", "SpanAlloc":
			h.spans.set(args[0], args[1], args[2])
		case "HeapObject", "HeapObjectAlloc", "HeapObjectFree":
			return h.object(e.Time(), x.Name, args[0], args[1])
		}
	}
	return nil
}

// generation begins a generation of the tracer, about a second, with its own
// numbers of types.
func (h *goHistory) generation(time exptrace.Time, batches []exptrace.ExperimentalBatch) error {
	if h.tickEnd == 0 {
		h.tickEnd = time + tickLength
	}
	clear(h.numbered)
	for _, b := range batches {
		const kindTypes = 0 // first byte of a batch; other batches describe the heap
		if len(b.Data) == 0 || b.Data[0] != kindTypes {
			continue
		}
		if err := h.readTypes(b.Data[1:]); err != nil {
			return err
		}
	}
	return nil
}

// readTypes decodes number, address, size, pointer bytes, length of the name
// and name of each type. The address identifies a type in every generation.
func (h *goHistory) readTypes(data []byte) error {
	for n := 0; len(data) > 0; n++ {
		var fields [5]uint64
		for i := range fields {
			v, size := binary.Uvarint(data)
			if size <= 0 {
				return fmt.Errorf("type %d of the batch is truncated", n)
			}
			fields[i], data = v, data[size:]
		}
		number, address, length := fields[0], fields[1], fields[4]
		if length > uint64(len(data)) {
			return fmt.Errorf("the name of type %d of the batch is truncated", n)
		}
		typ, ok := h.typeOf[address]
		if !ok {
			typ = len(h.types)
			h.types = append(h.types, string(data[:length]))
			h.typeOf[address] = typ
		}
		h.numbered[number], data = typ, data[length:]
	}
	return nil
}
