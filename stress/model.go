package main

import "handloom/internal/trace"

// model is the slow and obvious account of a trace: a Go map from key to item
// for each table. It shares no code with the store.
type model struct {
	tick    int
	tables  []*modelTable // in order of first use
	byTable [trace.MaxTable + 1]*modelTable

	touched []name         // touched in this tick, in order of the first event
	touches map[name]touch // by name
}

type modelTable struct {
	number uint16
	items  map[uint64]item
	sums   sums
	want   tally // of this tick
}

type touch struct {
	fresh bool
	puts  int // number of puts
}

// tally counts the commands of a tick to a table by outcome.
type tally struct{ created, erased, put, superseded, dropped, cancelledOut int }

func newModel() *model { return &model{touches: make(map[name]touch)} }

func (m *model) register(number uint16) bool {
	if m.byTable[number] != nil {
		return false
	}
	t := &modelTable{number: number, items: make(map[uint64]item)}
	m.byTable[number] = t
	m.tables = append(m.tables, t)
	return true
}

func (m *model) play(events []trace.Event) {
	m.tick++
	m.touched = m.touched[:0]
	clear(m.touches)
	for _, t := range m.tables {
		t.want = tally{}
		for key, it := range t.items {
			it.Age++
			t.items[key] = it
		}
	}
	for _, e := range events {
		n := name{e.Table, e.Key}
		was, seen := m.touches[n]
		if !seen {
			m.touched = append(m.touched, n)
		}
		m.touches[n] = m.byTable[e.Table].apply(e, was, uint32(m.tick))
	}
	for _, n := range m.touched {
		if puts := m.touches[n].puts; puts > 0 {
			t := m.byTable[n.table]
			t.want.put++
			t.want.superseded += puts - 1
		}
	}
	for _, t := range m.tables {
		t.sums = sums{Items: uint64(len(t.items))}
		for _, it := range t.items {
			t.sums = t.sums.plus(sums{Keys: it.Key, Versions: uint64(it.Version), Ages: uint64(it.Age)})
		}
	}
}

func (t *modelTable) apply(e trace.Event, to touch, tick uint32) touch {
	switch e.Kind {
	case trace.Create:
		t.items[e.Key] = item{Key: e.Key, Table: uint32(e.Table), Born: tick}
		t.want.created++
		return touch{fresh: true}
	case trace.Update:
		it := t.items[e.Key]
		it.Version++
		t.items[e.Key] = it
		if !to.fresh || e.Key%2 == 0 {
			to.puts++ // an update of an odd key completes its create
		}
		return to
	case trace.Erase:
		delete(t.items, e.Key)
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

func (m *model) item(n name) (item, bool) {
	want, live := m.byTable[n.table].items[n.key]
	return want, live
}

func (m *model) len() int {
	n := 0
	for _, t := range m.tables {
		n += len(t.items)
	}
	return n
}
