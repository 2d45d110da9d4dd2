package goalloc

import (
	"io"

	"handloom/internal/trace"
)

// writing is the second walk over a history: keys are dealt and lines written.
type writing struct {
	h      *history
	layout layout
	out    *trace.Writer
	keys   []keys   // by table
	keyOf  []uint32 // by serial number of an object
	sum    *Summary
}

// write writes h as a trace and counts it in sum.
func write(h *history, l layout, out io.Writer, sum *Summary) error {
	w := &writing{
		h: h, layout: l, out: trace.NewWriter(out), sum: sum,
		keys: make([]keys, len(l.tables)), keyOf: make([]uint32, len(h.objects)),
	}
	w.comments()
	for _, r := range h.records {
		w.record(r)
	}
	if n := len(h.records); n > 0 && h.records[n-1].what != recordTick {
		w.ticks(1)
	}
	sum.Events = sum.Creates + sum.Updates + sum.Erases
	return w.out.Close()
}

func (w *writing) comments() {
	w.out.Comment("object lifetimes of a Go program, a tick per millisecond")
	for i, t := range w.layout.tables {
		w.out.Name(uint16(i), clip(t.Name))
	}
}

// clip cuts names too long to be read; some types have every method of an
// interface in theirs.
func clip(name string) string {
	const most = 200
	if len(name) > most {
		return name[:most] + "..."
	}
	return name
}

func (w *writing) record(r record) {
	switch r.what {
	case recordTick:
		w.ticks(int(r.number))
	case recordCreate:
		table := w.layout.tableOf[w.h.objects[r.number]]
		w.keyOf[r.number] = w.keys[table].take()
		w.event(trace.Create, table, uint64(w.keyOf[r.number]))
	case recordErase:
		table := w.layout.tableOf[w.h.objects[r.number]]
		w.keys[table].giveBack(w.keyOf[r.number])
		w.event(trace.Erase, table, uint64(w.keyOf[r.number]))
	case recordGoCreate:
		w.event(trace.Create, 0, w.h.goroutines[r.number])
	case recordGoUpdate:
		w.event(trace.Update, 0, w.h.goroutines[r.number])
	case recordGoErase:
		w.event(trace.Erase, 0, w.h.goroutines[r.number])
	}
}

func (w *writing) event(kind trace.Kind, table uint16, key uint64) {
	switch kind {
	case trace.Create:
		w.sum.Creates++
	case trace.Update:
		w.sum.Updates++
	case trace.Erase:
		w.sum.Erases++
	}
	w.out.Event(trace.Event{Kind: kind, Table: table, Key: key})
}

func (w *writing) ticks(n int) {
	w.sum.Ticks += n
	for range n {
		w.out.Tick()
	}
}
