package goalloc

import "fmt"

// history is what the text tells, with lifetimes made valid, in a form that is
// cheap to walk a second time: which table an object belongs to is known only
// when all are counted.
type history struct {
	names *TypeNames

	records    []record
	types      []string // names, by order of appearance
	objects    []uint32 // by serial number: its type, an index into types
	goroutines []uint64 // by serial number: its id

	typeOf   map[typeKey]uint32
	alive    map[uint64]uint32 // address to serial number
	running  map[uint64]uint32 // goroutine id to serial number
	clock    clock
	spans    spans
	gen      uint64 // generation of the tracer, counted from 1
	heapSeen bool   // some heap object was seen
	events   int    // records that are not ticks
	tickEnd  int    // records up to and with the latest tick
	skipped  Skipped
	repaired Repaired
}

// record is one event. Its number is an object's or goroutine's serial number,
// or how many ticks end here.
type record struct {
	what   recordKind
	number uint32
}

type recordKind uint8

const (
	recordTick recordKind = iota
	recordCreate
	recordErase
	recordGoCreate
	recordGoUpdate
	recordGoErase
)

// typeKey tells types apart: by address where it is known, and otherwise by
// number within a generation.
type typeKey struct {
	named bool
	gen   uint64
	id    uint64 // address if named
}

func newHistory(names *TypeNames) *history {
	return &history{
		names:   names,
		typeOf:  map[typeKey]uint32{},
		alive:   map[uint64]uint32{},
		running: map[uint64]uint32{},
		spans:   spans{wide: map[uint64]struct{}{}},
	}
}

// add takes in one line.
func (h *history) add(l line) error {
	switch l.op {
	case opStack:
		h.skipped.StackLines++
		return nil
	case opOther, opSync, opSpan:
		h.addOther(l)
		return nil
	}
	if err := h.advance(l); err != nil {
		return err
	}
	switch l.op {
	case opExists, opAlloc, opFree:
		return h.addObject(l)
	default:
		return h.addGoroutine(l)
	}
}

// addOther takes in what no trace shows.
func (h *history) addOther(l line) {
	h.skipped.OtherEvents++
	h.clock.begin(l.time)
	switch l.op {
	case opSync:
		h.gen = l.id
	case opSpan:
		h.spans.set(l.id, l.pages, l.class)
	}
}

// advance ends the ticks that passed before l. The list of objects that
// existed at the beginning is taken while the world stands still, and may take
// milliseconds; it lies in the first tick all the same.
func (h *history) advance(l line) error {
	if l.op == opExists {
		h.clock.begin(l.time)
		return nil
	}
	passed, back := h.clock.advance(l.time)
	if back {
		h.repaired.TimesBack++
	}
	if h.clock.ticks > maxTicks {
		return fmt.Errorf("time %d is %d ms after the beginning; at most %d are converted", l.time, h.clock.ticks, maxTicks)
	}
	if passed > 0 {
		h.endTicks(passed)
	}
	return nil
}

func (h *history) record(what recordKind, number uint32) {
	h.records = append(h.records, record{what, number})
	h.events++
}

func (h *history) endTicks(n uint64) {
	h.records = append(h.records, record{recordTick, uint32(n)})
	h.tickEnd = len(h.records)
}

// cut drops what came after the latest tick, and reports whether anything is
// left.
func (h *history) cut() bool {
	h.records = h.records[:h.tickEnd]
	return h.tickEnd > 0
}
