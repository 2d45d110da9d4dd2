package suite

import (
	"bytes"
	"context"
	"sync"

	"handloom/bench/internal/measure"
	"handloom/internal/trace"
	"handloom/store"
)

// replays returns the cases of replaying the embedded trace, whose ticks are
// mostly small: in queues of 8 tasks with a flush per tick, and at once on
// plain maps.
func replays(s set[item32]) (cases []measure.Case) {
	add := func(impl string, workers int, open func() *measure.Work) {
		c := measure.Case{Op: "replay", Impl: impl, Size: sizeOf[item32](), Workers: workers, Unit: measure.PerSecond, Open: open}
		cases = append(cases, c)
	}
	for _, workers := range s.workers {
		add("table", workers, func() *measure.Work { return newReplay(workers) })
	}
	add("map", 1, func() *measure.Work {
		h := embedded()
		var to mapTrace
		return &measure.Work{
			Items:   h.events,
			Prepare: func() { to = newMapTrace(h) },
			Body:    func() { to.apply(h.ticks) },
			Count:   func() int { return to.live() }, // at the end: single events leave no trace
		}
	})
	return cases
}

// event is an event of a trace. Every lifetime of a key has its own entry, so
// that a replay needs no map.
type event struct {
	kind  trace.Kind
	table uint16
	entry uint32
}

type history struct {
	ticks   [][]event
	events  int
	entries int
	tables  int
}

var embedded = sync.OnceValue(func() *history {
	type name struct {
		table uint16
		key   uint64
	}
	h, live := new(history), make(map[name]uint32)
	for events, err := range trace.Ticks(bytes.NewReader(trace.Sample), "embedded trace") {
		check(err)
		tick := make([]event, len(events))
		for i, e := range events {
			n := name{e.Table, e.Key}
			if e.Kind == trace.Create {
				live[n] = uint32(h.entries)
				h.entries++
			}
			tick[i] = event{e.Kind, e.Table, live[n]}
			h.tables = max(h.tables, int(e.Table)+1)
		}
		h.ticks = append(h.ticks, tick)
		h.events += len(events)
	}
	return h
})

type replay struct {
	*history
	store     *store.Store
	tables    []*store.Table[item32]
	directory []store.Handle[item32]
	tasks     [][queues][]event // by tick
	tick      int
	ctx       context.Context
	flushing
}

func newReplay(workers int) *measure.Work {
	r := &replay{history: embedded()}
	r.tasks = make([][queues][]event, len(r.ticks))
	for i, tick := range r.ticks {
		for _, e := range tick {
			task := e.entry % queues // all events of an entry, in order
			r.tasks[i][task] = append(r.tasks[i][task], e)
		}
	}
	return &measure.Work{
		Items: r.events, Within: within(workers, &r.ctx),
		Prepare: func() { r.begin(workers) },
		Body:    r.run,
		Count:   r.count,
	}
}

func (r *replay) begin(workers int) {
	r.store, r.tables = newStore(workers), r.tables[:0]
	for i := range r.history.tables {
		r.tables = append(r.tables, store.Register(r.store, store.TableOptions[item32]{Name: string(rune('A' + i))}))
	}
	r.directory = make([]store.Handle[item32], r.entries)
}

func (r *replay) run() {
	for r.tick = range r.ticks {
		check(r.store.Each(r.ctx, queues, r.record))
		r.flush(r.ctx, r.store)
		r.takeOver()
	}
}

func (r *replay) record(task int, q store.Queue) {
	for _, e := range r.tasks[r.tick][task] {
		t := r.tables[e.table]
		switch h := &r.directory[e.entry]; e.kind {
		case trace.Create:
			*h = t.Emplace(q, item32{v: uint64(e.entry)})
		case trace.Update:
			t.Put(q, *h, item32{v: uint64(e.entry) + 1})
		case trace.Erase:
			t.Erase(q, *h)
		}
	}
}

func (r *replay) takeOver() {
	for _, e := range r.ticks[r.tick] {
		if e.kind == trace.Create {
			r.directory[e.entry], _ = r.tables[e.table].Resolve(r.directory[e.entry])
		}
	}
}

type mapTrace []map[uint64]item32 // by table

func newMapTrace(h *history) mapTrace {
	m := make(mapTrace, h.tables)
	for i := range m {
		m[i] = make(map[uint64]item32)
	}
	return m
}

func (m mapTrace) apply(ticks [][]event) {
	for _, tick := range ticks {
		for _, e := range tick {
			switch key := uint64(e.entry); e.kind {
			case trace.Create:
				m[e.table][key] = item32{v: key}
			case trace.Update:
				m[e.table][key] = item32{v: key + 1}
			case trace.Erase:
				delete(m[e.table], key)
			}
		}
	}
}

func (m mapTrace) live() (n int) {
	for _, table := range m {
		n += len(table)
	}
	return n
}
