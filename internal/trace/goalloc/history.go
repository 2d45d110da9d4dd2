package goalloc

import (
	"errors"
	"fmt"
)

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

func (h *history) addObject(l line) error {
	h.heapSeen = true
	if l.op == opFree {
		h.freeSlot(l.id)
		return nil
	}
	if _, alive := h.alive[l.id]; alive {
		if l.op == opExists {
			h.skipped.ListedAgain++
			return nil
		}
		h.repaired.LostFrees++
		h.free(l.id)
	}
	if len(h.objects) == maxSerial {
		return errTooMany
	}
	serial := uint32(len(h.objects))
	h.objects = append(h.objects, h.typeNumber(l.typ))
	h.alive[l.id] = serial
	h.record(recordCreate, serial)
	return nil
}

// freeSlot frees what lies in the slot at id: mostly the object there, at
// times one behind it, or both.
func (h *history) freeSlot(id uint64) {
	freed := h.free(id)
	if h.spans.sharesSlot(id) && h.free(id+1) {
		freed = true
	}
	if !freed {
		h.skipped.UnknownFrees++
	}
}

// free ends the life of the object at id and reports whether there was one.
func (h *history) free(id uint64) bool {
	serial, alive := h.alive[id]
	if alive {
		delete(h.alive, id)
		h.record(recordErase, serial)
	}
	return alive
}

func (h *history) addGoroutine(l line) error {
	serial, alive := h.running[l.id]
	if l.op == opGoEnd && !alive {
		h.skipped.UnknownEnds++
		return nil
	}
	if l.op == opGoChange && alive {
		h.record(recordGoUpdate, serial)
		return nil
	}
	if alive {
		h.record(recordGoErase, serial)
		delete(h.running, l.id)
	}
	if l.op == opGoEnd {
		return nil
	}
	if alive {
		h.repaired.LostEnds++
	}
	if len(h.goroutines) == maxSerial {
		return errTooMany
	}
	serial = uint32(len(h.goroutines))
	h.goroutines = append(h.goroutines, l.id)
	h.running[l.id] = serial
	h.record(recordGoCreate, serial)
	return nil
}

// maxSerial bounds serial numbers and keys to 32 bits.
const maxSerial = 1<<32 - 1

var errTooMany = errors.New("more than 4294967295 objects")

// typeNumber returns the index in h.types of the type that the current
// generation numbers id.
func (h *history) typeNumber(id uint64) uint32 {
	key, name := typeKey{gen: h.gen, id: id}, ""
	if found, ok := h.names.lookup(h.gen, id); ok {
		key, name = typeKey{named: true, id: found.address}, found.name
	}
	if id == 0 {
		key = typeKey{} // memory without a type is that in every generation
	}
	n, ok := h.typeOf[key]
	if ok {
		return n
	}
	switch {
	case id == 0:
		name = "memory without a type"
	case !key.named:
		name = fmt.Sprintf("type %d of generation %d", id, h.gen)
	}
	n = uint32(len(h.types))
	h.types = append(h.types, name)
	h.typeOf[key] = n
	return n
}
