package suite

import (
	"bytes"
	"context"
	"sync"

	"handloom/bench/internal/measure"
	"handloom/internal/trace"
	"handloom/store"
	"handloom/stress/sample"
)

// replays returns the cases of replaying the embedded trace, whose ticks are
// mostly small: in queues of 8 tasks with a flush for every tick, and at once on
// plain maps and maps written by hand, in one goroutine.
func (s set[T]) replays() (cases []measure.Case) {
	add := func(impl string, workers int, open func() *measure.Work) {
		c := measure.Case{Op: "replay", Impl: impl, Size: sizeOf[T](), Workers: workers, Unit: measure.PerSecond, Open: open}
		cases = append(cases, c)
	}
	for _, workers := range s.workers {
		add("table", workers, func() *measure.Work { return newReplay[T](workers) })
	}
	add("map", 1, func() *measure.Work { return s.replayAtOnce(newMapTrace[T]) })
	add("straight", 1, func() *measure.Work { return s.replayAtOnce(newStraightTrace[T]) })
	return cases
}

// event is one of a trace. Every life of a key is an entry of its own, so that
// who replays it keeps a directory of names and no map.
type event struct {
	kind  trace.Kind
	table uint16
	entry uint32
}

// history is a trace, ready to replay.
type history struct {
	ticks   [][]event
	events  int
	entries int
	tables  int
}

// embedded is the embedded trace.
var embedded = sync.OnceValue(func() *history {
	type name struct {
		table uint16
		key   uint64
	}
	h, live := new(history), make(map[name]uint32)
	for events, err := range must(trace.NewReader(bytes.NewReader(sample.Trace), "embedded trace")).Ticks() {
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

// replay is a store that replays the embedded trace.
type replay[T item] struct {
	*history
	store     *store.Store
	tables    []*store.Table[T]
	directory []store.Handle[T]
	tasks     [][queues][]event // by tick
	tick      int
	ctx       context.Context
}

func newReplay[T item](workers int) *measure.Work {
	r := &replay[T]{history: embedded()}
	r.tasks = make([][queues][]event, len(r.ticks))
	for i, tick := range r.ticks {
		for _, e := range tick {
			task := e.entry % queues // all events of an entry, so that their order is kept
			r.tasks[i][task] = append(r.tasks[i][task], e)
		}
	}
	return &measure.Work{
		Items: r.events, Within: within(newStore(workers), &r.ctx),
		Prepare: func() { r.begin(workers) },
		Body:    r.run,
	}
}

func (r *replay[T]) begin(workers int) {
	r.store, r.tables = newStore(workers), r.tables[:0]
	for i := range r.history.tables {
		r.tables = append(r.tables, must(store.Register(r.store, store.TableOptions[T]{Name: string(rune('A' + i))})))
	}
	r.directory = make([]store.Handle[T], r.entries)
}

func (r *replay[T]) run() {
	for r.tick = range r.ticks {
		check(r.store.Each(r.ctx, queues, r.record))
		must(r.store.Flush(r.ctx))
		r.takeOver()
	}
}

func (r *replay[T]) record(_ context.Context, task int, q store.Queue) error {
	for _, e := range r.tasks[r.tick][task] {
		t := r.tables[e.table]
		switch h := &r.directory[e.entry]; e.kind {
		case trace.Create:
			*h = t.Emplace(q, itemOf[T](uint64(e.entry)))
		case trace.Update:
			t.Put(q, *h, itemOf[T](uint64(e.entry)+1))
		case trace.Erase:
			t.Erase(q, *h)
		}
	}
	return nil
}

func (r *replay[T]) takeOver() {
	for _, e := range r.ticks[r.tick] {
		if e.kind == trace.Create {
			r.directory[e.entry], _ = r.tables[e.table].Resolve(r.directory[e.entry])
		}
	}
}

// atOnce applies events one by one.
type atOnce interface{ apply(ticks [][]event) }

func (s set[T]) replayAtOnce(make func(*history) atOnce) *measure.Work {
	h := embedded()
	var to atOnce
	return &measure.Work{
		Items:   h.events,
		Prepare: func() { to = make(h) },
		Body:    func() { to.apply(h.ticks) },
	}
}

type mapTrace[T item] []map[uint64]T // by table

func newMapTrace[T item](h *history) atOnce {
	m := make(mapTrace[T], h.tables)
	for i := range m {
		m[i] = make(map[uint64]T)
	}
	return m
}

func (m mapTrace[T]) apply(ticks [][]event) {
	for _, tick := range ticks {
		for _, e := range tick {
			switch key := uint64(e.entry); e.kind {
			case trace.Create:
				m[e.table][key] = itemOf[T](key)
			case trace.Update:
				m[e.table][key] = itemOf[T](key + 1)
			case trace.Erase:
				delete(m[e.table], key)
			}
		}
	}
}

type straightTrace[T item] struct {
	tables    []straight[T]
	directory directory
}

func newStraightTrace[T item](h *history) atOnce {
	return &straightTrace[T]{make([]straight[T], h.tables), make(directory, h.entries)}
}

func (m *straightTrace[T]) apply(ticks [][]event) {
	for _, tick := range ticks {
		for _, e := range tick {
			switch t, name := &m.tables[e.table], &m.directory[e.entry]; e.kind {
			case trace.Create:
				*name = t.insert(itemOf[T](uint64(e.entry)))
			case trace.Update:
				if v, ok := t.get(*name); ok {
					*v = itemOf[T](uint64(e.entry) + 1)
				}
			case trace.Erase:
				t.erase(*name)
			}
		}
	}
}
