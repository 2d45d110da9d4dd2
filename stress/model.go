package main

import (
	"runtime"
	"time"

	"handloom/internal/trace"
)

// model is the slow, obviously right account of a trace: a Go map from key to item for
// each table, on one goroutine, as a program without tables would have it. It shares no
// code with the store. It alone says what a flush must report, and the cost of a player
// is compared with the cost of its maps, in the same run.
type model struct {
	tick    int
	tables  []*modelTable // in the order in which the trace first names them
	byTable [trace.MaxTable + 1]*modelTable

	touched []name         // in this tick, each once, in the order of their first event
	touches map[name]touch // by name

	// Every object has a number, small ones first, which returns in the tick after
	// its end: a player that keeps handles by number needs no map to find them.
	numbers     []uint32 // of the objects of this tick's events
	objects     uint32   // numbers given so far
	free, ended []uint32

	all    life // of all tables together, but for updates
	course course

	now            func() time.Time
	busy, changing time.Duration // in ticks, and of that in events
	bytes          int64         // of the maps of items, at the end
}

type modelTable struct {
	number  uint16
	items   map[uint64]item
	objects map[uint64]uint32 // numbers, by key
	sums    sums              // of items, at the end of the tick
	want    tally             // of this tick
	life    life
}

// touch is what this tick did to the present item of a key.
type touch struct {
	fresh bool // created in this tick
	puts  int  // recorded for it
}

// tally counts the commands of one tick to one table by what must become of
// them.
type tally struct{ created, erased, put, superseded, dropped, cancelledOut int }

func newModel() *model {
	return &model{touches: make(map[name]touch), now: time.Now}
}

// register adds a table and reports whether it is new.
func (m *model) register(number uint16) bool {
	if m.byTable[number] != nil {
		return false
	}
	t := &modelTable{number: number, items: make(map[uint64]item), objects: make(map[uint64]uint32)}
	m.byTable[number] = t
	m.tables = append(m.tables, t)
	return true
}

// begin begins the next tick: it numbers the objects of its events and counts what must
// become of the commands. The events keep the rules of a lifetime, and their tables are
// registered.
func (m *model) begin(events []trace.Event) {
	m.tick++
	m.touched, m.numbers = m.touched[:0], m.numbers[:0]
	m.free, m.ended = append(m.free, m.ended...), m.ended[:0]
	clear(m.touches)
	for _, t := range m.tables {
		t.want = tally{}
	}
	for _, e := range events {
		n := name{e.Table, e.Key}
		was, seen := m.touches[n]
		if !seen {
			m.touched = append(m.touched, n)
		}
		t := m.byTable[e.Table]
		switch e.Kind {
		case trace.Create:
			t.objects[e.Key] = m.number()
		case trace.Erase:
			m.ended = append(m.ended, t.objects[e.Key])
		}
		m.numbers = append(m.numbers, t.objects[e.Key])
		m.touches[n] = t.count(e, was, uint32(m.tick))
	}
	m.age()
	for _, n := range m.touched {
		if puts := m.touches[n].puts; puts > 0 {
			t := m.byTable[n.table]
			t.want.put++
			t.want.superseded += puts - 1
		}
	}
}

// number returns the number of a new object.
func (m *model) number() uint32 {
	if n := len(m.free); n > 0 {
		object := m.free[n-1]
		m.free = m.free[:n-1]
		return object
	}
	m.objects++
	return m.objects - 1
}

func (t *modelTable) count(e trace.Event, to touch, tick uint32) touch {
	switch e.Kind {
	case trace.Create:
		t.life.births++
		t.want.created++
		return touch{fresh: true}
	case trace.Update:
		t.life.updated++
		if !to.fresh || e.Key%2 == 0 {
			to.puts++ // an odd key's update joins its create
		}
		return to
	case trace.Erase:
		delete(t.objects, e.Key)
		t.want.dropped += to.puts
		if to.fresh {
			t.life.end(1)
			t.want.created--
			t.want.cancelledOut += 2
		} else {
			t.life.end(int(tick-t.items[e.Key].Born) + 1)
			t.want.erased++
		}
	}
	return touch{}
}

// play plays the tick that begin began, against the clock, as a player does: it ages all
// items, applies the events and sums the items up.
func (m *model) play(events []trace.Event) {
	begin := m.now()
	for _, t := range m.tables {
		for key, it := range t.items {
			it.Age++
			t.items[key] = it
		}
	}
	changed := m.now()
	for _, e := range events {
		items := m.byTable[e.Table].items
		switch e.Kind {
		case trace.Create:
			items[e.Key] = item{Key: e.Key, Table: uint32(e.Table), Born: uint32(m.tick)}
		case trace.Update:
			it := items[e.Key]
			it.Version++
			items[e.Key] = it
		case trace.Erase:
			delete(items, e.Key)
		}
	}
	m.changing += m.now().Sub(changed)
	for _, t := range m.tables {
		t.sums = sums{Items: uint64(len(t.items))}
		for _, it := range t.items {
			t.sums = t.sums.plus(sums{Keys: it.Key, Versions: uint64(it.Version), Ages: uint64(it.Age)})
		}
	}
	m.busy += m.now().Sub(begin)
}

// item returns the item that must be found under n, with the number of the object,
// and whether there is one.
func (m *model) item(n name) (want item, object uint32, live bool) {
	t := m.byTable[n.table]
	want, live = t.items[n.key]
	return want, t.objects[n.key], live
}

// len returns the number of live items.
func (m *model) len() int {
	n := 0
	for _, t := range m.tables {
		n += len(t.objects)
	}
	return n
}

// measure drops the maps of items, to see how much memory that frees.
func (m *model) measure() {
	with := heap()
	for _, t := range m.tables {
		t.items = nil
	}
	m.bytes = max(with-heap(), 0)
}

// heap returns how many bytes are reachable.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// plainCost is the cost of the maps.
type plainCost struct {
	Seconds       float64 `json:"seconds"` // in ticks
	ChangeSeconds float64 `json:"change_seconds"`
	Bytes         int64   `json:"bytes"` // at the end
}

func (m *model) cost() plainCost {
	return plainCost{m.busy.Seconds(), m.changing.Seconds(), m.bytes}
}
