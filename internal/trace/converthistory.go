package trace

import (
	"fmt"

	exptrace "golang.org/x/exp/trace"
)

const (
	// tickLength is the trace time of one tick, in nanoseconds.
	tickLength = 1_000_000

	// maxTicks is more than an hour. It bounds the empty ticks of an absurd time.
	maxTicks = 1 << 22
)

// goHistory is an execution trace with valid lifetimes, in a form that is cheap
// to walk a second time: the table of a type is known after all are counted.
type goHistory struct {
	records []record
	items   []int    // types by serial number
	types   []string // names by order of appearance

	typeOf   map[uint64]int   // by address
	numbered map[uint64]int   // by number in this generation
	alive    map[identity]int // serial numbers
	spans    spans

	hasObjects bool
	tickEnd    exptrace.Time // end of the current tick
	ticks      int
	events     int // records that are not ticks
	wholeTicks int // records up to the end of the latest tick

	repaired, skipped int
}

// record is one event of the item with a serial number, or the end of a tick.
type record struct {
	kind Kind
	item int
}

// identity names a live goroutine by its id, or an object by its address.
type identity struct {
	isObject bool
	id       uint64
}

// The first types.
const (
	typeGoroutine = iota
	typeNone      // bytes of strings and the like
	typeUnknown
)

func newHistory() *goHistory {
	return &goHistory{
		types:    []string{"goroutines", "memory without a type", "unknown types"},
		typeOf:   map[uint64]int{},
		numbered: map[uint64]int{},
		alive:    map[identity]int{},
		spans:    spans{},
	}
}

// object adds one event of a heap object. The listing of objects that existed
// at the beginning may take milliseconds while the program is stopped; it
// belongs to the first tick.
func (h *goHistory) object(time exptrace.Time, event string, address, number uint64) error {
	h.hasObjects = true
	what := identity{isObject: true, id: address}
	if event == "HeapObject" {
		if _, alive := h.alive[what]; !alive {
			h.create(what, h.typeNumbered(number))
		}
		return nil
	}
	if err := h.advance(time); err != nil {
		return err
	}
	if event == "HeapObjectAlloc" {
		h.create(what, h.typeNumbered(number))
		return nil
	}
	freed := h.erase(what)
	if h.spans.sharesSlot(address) && h.erase(identity{isObject: true, id: address + 1}) {
		freed = true
	}
	if !freed {
		h.skipped++
	}
	return nil
}

func (h *goHistory) typeNumbered(number uint64) int {
	if number == 0 {
		return typeNone
	}
	if typ, ok := h.numbered[number]; ok {
		return typ
	}
	return typeUnknown
}

// goroutine adds one transition of a goroutine.
func (h *goHistory) goroutine(time exptrace.Time, id uint64, from, to exptrace.GoState) error {
	if err := h.advance(time); err != nil {
		return err
	}
	what := identity{id: id}
	serial, alive := h.alive[what]
	switch {
	case to == exptrace.GoNotExist:
		if !h.erase(what) {
			h.skipped++
		}
	case from == exptrace.GoNotExist || !alive:
		h.create(what, typeGoroutine)
	default:
		h.record(Update, serial)
	}
	return nil
}

// create begins a lifetime. It ends the one of the same identity first.
func (h *goHistory) create(what identity, typ int) {
	if h.erase(what) {
		h.repaired++
	}
	h.alive[what] = len(h.items)
	h.record(Create, len(h.items))
	h.items = append(h.items, typ)
}

// erase ends a lifetime and reports whether there was one.
func (h *goHistory) erase(what identity) bool {
	serial, alive := h.alive[what]
	if alive {
		delete(h.alive, what)
		h.record(Erase, serial)
	}
	return alive
}

func (h *goHistory) record(kind Kind, item int) {
	h.records = append(h.records, record{kind, item})
	h.events++
}

// advance ends the ticks before time. Times only increase.
func (h *goHistory) advance(time exptrace.Time) error {
	for ; time >= h.tickEnd; h.tickEnd += tickLength {
		if h.ticks++; h.ticks > maxTicks {
			return fmt.Errorf("time %d, want at most %d ms after the beginning", time, maxTicks)
		}
		h.records = append(h.records, record{kind: Tick})
		h.wholeTicks = len(h.records)
	}
	return nil
}

// cut drops the records after the latest tick.
func (h *goHistory) cut(maxEvents int) error {
	if h.wholeTicks == 0 {
		return fmt.Errorf("the first tick has more than %d events", maxEvents)
	}
	h.records = h.records[:h.wholeTicks]
	return nil
}
