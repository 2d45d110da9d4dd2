package main

import "handloom/internal/trace"

// model is the slow, obviously right account of a trace: Go maps from key to
// what its item must hold. It shares no code with the store, and it alone says
// what a flush must report.
type model struct {
	tick    int
	tables  []*modelTable // in the order in which the trace first names them
	byTable map[uint16]*modelTable

	touched []name         // in this tick, each once, in the order of their first event
	touches map[name]touch // by name

	// Every object has a number, small ones first, which returns in the tick after
	// its end: a player that keeps handles by number needs no map to find them.
	numbers     []uint32 // of the objects of this tick's events
	objects     uint32   // numbers given so far
	free, ended []uint32

	all    life // of all tables together, but for updates
	course course
}

type modelTable struct {
	number uint16
	live   map[uint64]fact
	want   tally // of this tick
	life   life

	keys, versions, born uint64 // sums over live
}

// fact is what an item must hold besides its name.
type fact struct{ version, born, object uint32 }

// touch is what this tick did to the present item of a key.
type touch struct {
	fresh bool // created in this tick
	puts  int  // recorded for it
}

// tally counts the commands of one tick to one table by what must become of
// them.
type tally struct{ created, erased, put, superseded, dropped, cancelledOut int }

func newModel() *model {
	return &model{byTable: make(map[uint16]*modelTable), touches: make(map[name]touch)}
}

// register adds a table and reports whether it is new.
func (m *model) register(number uint16) bool {
	if m.byTable[number] != nil {
		return false
	}
	t := &modelTable{number: number, live: make(map[uint64]fact)}
	m.byTable[number] = t
	m.tables = append(m.tables, t)
	return true
}

// apply brings the model to the end of the next tick. The events keep the rules
// of a lifetime, and their tables are registered.
func (m *model) apply(events []trace.Event) {
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
		object := t.live[e.Key].object
		switch e.Kind {
		case trace.Create:
			object = m.number()
		case trace.Erase:
			m.ended = append(m.ended, object)
		}
		m.numbers = append(m.numbers, object)
		m.touches[n] = t.apply(e, was, object, uint32(m.tick))
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

func (t *modelTable) apply(e trace.Event, to touch, object, tick uint32) touch {
	f := t.live[e.Key]
	switch e.Kind {
	case trace.Create:
		t.live[e.Key] = fact{born: tick, object: object}
		t.life.births++
		t.want.created++
		t.keys += e.Key
		t.born += uint64(tick)
		return touch{fresh: true}
	case trace.Update:
		f.version++
		t.live[e.Key] = f
		t.versions++
		t.life.updated++
		if !to.fresh || e.Key%2 == 0 {
			to.puts++ // an odd key's update joins its create
		}
		return to
	case trace.Erase:
		delete(t.live, e.Key)
		t.life.end(int(tick-f.born) + 1)
		t.keys -= e.Key
		t.versions -= uint64(f.version)
		t.born -= uint64(f.born)
		t.want.dropped += to.puts
		if to.fresh {
			t.want.created--
			t.want.cancelledOut += 2
		} else {
			t.want.erased++
		}
	}
	return touch{}
}

// sums returns what a pass over the table must find at the end of tick.
func (t *modelTable) sums(tick int) sums {
	n := uint64(len(t.live))
	return sums{Items: n, Keys: t.keys, Versions: t.versions, Ages: n*uint64(tick) - t.born}
}

// item returns the item that must be found under n, with the number of the object,
// and whether there is one.
func (m *model) item(n name) (want item, object uint32, live bool) {
	f, ok := m.byTable[n.table].live[n.key]
	if !ok {
		return item{}, 0, false
	}
	return item{
		Key: n.key, Table: uint32(n.table),
		Version: f.version, Born: f.born, Age: uint32(m.tick) - f.born,
	}, f.object, true
}

// len returns how many items live.
func (m *model) len() int {
	n := 0
	for _, t := range m.tables {
		n += len(t.live)
	}
	return n
}
