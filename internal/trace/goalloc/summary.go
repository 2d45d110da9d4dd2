package goalloc

import (
	"fmt"
	"strings"
)

// Summary says what became of a text.
type Summary struct {
	Lines   int // read
	Events  int // written: Creates + Updates + Erases
	Creates int
	Updates int
	Erases  int
	Ticks   int     // T written
	Tables  []Table // by number
	Cut     bool    // the text goes on, and Options.MaxEvents ended the trace

	// Of all lines read, those behind the cut included.
	Skipped  Skipped
	Repaired Repaired
}

// Table is one table of a trace.
type Table struct {
	Name   string // of its type, or how many types share it
	Types  int    // 0 for the goroutines
	Events int
}

// Skipped counts lines that left nothing in the trace, by reason.
type Skipped struct {
	StackLines   int // parts of call stacks, and blank lines
	OtherEvents  int // events that no trace shows: spans, metrics, processors
	UnknownFrees int // frees of an address that was not alive
	UnknownEnds  int // ends of a goroutine that was not alive
	ListedAgain  int // HeapObject of an address that was alive
}

// Repaired counts lines that contradicted those before them, by reason.
type Repaired struct {
	LostFrees int // an address allocated while alive: an E was put in
	LostEnds  int // a goroutine created while alive: an E was put in
	TimesBack int // times before one seen earlier: the tick stayed
}

// String returns s as a few lines for a person.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events (%d creates, %d updates, %d erases) in %d ticks and %d tables, from %d lines\n",
		s.Events, s.Creates, s.Updates, s.Erases, s.Ticks, len(s.Tables), s.Lines)
	if s.Cut {
		b.WriteString("cut at a tick: the text goes on\n")
	}
	fmt.Fprintf(&b, "skipped: %d stack lines, %d other events, %d unknown frees, %d unknown ends, %d listed again\n",
		s.Skipped.StackLines, s.Skipped.OtherEvents, s.Skipped.UnknownFrees, s.Skipped.UnknownEnds, s.Skipped.ListedAgain)
	fmt.Fprintf(&b, "repaired: %d lost frees, %d lost ends, %d times back\n",
		s.Repaired.LostFrees, s.Repaired.LostEnds, s.Repaired.TimesBack)
	for i, t := range s.Tables {
		fmt.Fprintf(&b, "table %d: %s, %d events\n", i, t.Name, t.Events)
	}
	return b.String()
}
