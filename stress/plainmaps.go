package main

import (
	"fmt"
	"runtime"
	"time"

	"handloom/internal/trace"
)

// plainMaps are what a program without tables would do with the same events: a Go
// map from key to item for each table, on one goroutine. What a player costs is
// compared with it, in the same run.
type plainMaps struct {
	tables  []map[uint64]item // in the order of registration
	byTable [trace.MaxTable + 1]map[uint64]item
	sums    []sums // found by the last tick
	now     func() time.Time

	busy     time.Duration // in ticks
	changing time.Duration // of that, in events
	bytes    int64         // of the maps, at the end
}

func (p *plainMaps) register(number uint16) {
	p.byTable[number] = make(map[uint64]item)
	p.tables, p.sums = append(p.tables, p.byTable[number]), append(p.sums, sums{})
}

// play plays one tick: it ages all items, does what happens to them and sums them
// up, as a player does.
func (p *plainMaps) play(tick int, events []trace.Event) {
	begin := p.now()
	for _, t := range p.tables {
		for key, it := range t {
			it.Age++
			t[key] = it
		}
	}
	changed := p.now()
	for _, e := range events {
		t := p.byTable[e.Table]
		switch e.Kind {
		case trace.Create:
			t[e.Key] = item{Key: e.Key, Table: uint32(e.Table), Born: uint32(tick)}
		case trace.Update:
			it := t[e.Key]
			it.Version++
			t[e.Key] = it
		case trace.Erase:
			delete(t, e.Key)
		}
	}
	p.changing += p.now().Sub(changed)
	for i, t := range p.tables {
		s := sums{Items: uint64(len(t))}
		for _, it := range t {
			s = s.plus(sums{Keys: it.Key, Versions: uint64(it.Version), Ages: uint64(it.Age)})
		}
		p.sums[i] = s
	}
	p.busy += p.now().Sub(begin)
}

// check holds the maps to the model, or else they would be compared with a player
// that does something else.
func (p *plainMaps) check(m *model) error {
	for i, t := range m.tables {
		if want := t.sums(m.tick); p.sums[i] != want {
			return fmt.Errorf("table %d: the plain map sums up %+v; want %+v", t.number, p.sums[i], want)
		}
	}
	return nil
}

// plainCost is what the maps take.
type plainCost struct {
	Seconds       float64 `json:"seconds"` // in ticks
	ChangeSeconds float64 `json:"change_seconds"`
	Bytes         int64   `json:"bytes"` // at the end

	busy time.Duration
}

func (p *plainMaps) cost() plainCost {
	return plainCost{p.busy.Seconds(), p.changing.Seconds(), p.bytes, p.busy}
}

// measure drops the maps, to see how much memory that frees.
func (p *plainMaps) measure() {
	with := heap()
	p.tables, p.byTable = nil, [trace.MaxTable + 1]map[uint64]item{}
	p.bytes = max(with-heap(), 0)
}

// heap returns how many bytes are reachable.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
