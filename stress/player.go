package main

import (
	"context"
	"fmt"
	"time"

	"handloom/internal/histogram"
	"handloom/internal/trace"
	"handloom/store"
)

// player replays a trace on one store. Players of one replay differ in their
// number of workers alone.
type player struct {
	workers int
	ctx     context.Context // carries the team; an interrupt does not end it, because ticks are finished
	store   *store.Store
	tables  []*table // in the order of registration
	byTable [trace.MaxTable + 1]*table
	parts   [tasks]section
	held    []entry // by number of the object

	tick     int
	report   *store.Report // of the last flush
	epochs   int           // flushes that had commands
	depleted int           // slots, as the reports count them
	digest   uint64        // after the last tick

	busy     time.Duration       // in the phases of the ticks, checks and digests aside
	changing time.Duration       // of that, what is recorded and flushed
	flushes  histogram.Histogram // those that had commands
}

func newPlayer(workers int) (*player, error) {
	s, err := store.New(store.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	return &player{workers: workers, store: s}, nil
}

// register adds a table of the trace to the store.
func (p *player) register(number uint16, shards int) error {
	t, err := store.Register(p.store, store.TableOptions[item]{Name: fmt.Sprintf("table %d", number), Shards: shards})
	if err != nil {
		return err
	}
	p.byTable[number] = &table{number: number, items: t}
	p.tables = append(p.tables, p.byTable[number])
	return nil
}

// play replays one tick, given the events of each task and how many numbers of
// objects there are. Every other tick is one Write, which its passes and its flush
// join; the rest go through the gate phase by phase.
func (p *player) play(tick int, events *[tasks][]event, objects uint32) error {
	p.tick = tick
	p.held = append(p.held, make([]entry, int(objects)-len(p.held))...)
	begin := time.Now()
	err := p.whole(events)
	p.busy += time.Since(begin)
	if err != nil {
		return err
	}
	p.digest, err = p.store.Digest(p.ctx)
	return err
}

func (p *player) whole(events *[tasks][]event) error {
	if p.tick%2 != 0 {
		return p.phases(p.ctx, events)
	}
	return p.store.Write(p.ctx, func(ctx context.Context, _ *store.Writer) error {
		return p.phases(ctx, events)
	})
}

// phases are a tick: age, record, flush, sum.
func (p *player) phases(ctx context.Context, events *[tasks][]event) error {
	for _, t := range p.tables {
		if err := t.items.ForEach(ctx, age); err != nil {
			return err
		}
	}
	begin := time.Now()
	err := p.store.Each(ctx, tasks, func(_ context.Context, task int, q store.Queue) error {
		return p.record(&p.parts[task], events[task], q)
	})
	if err != nil {
		return err
	}
	if err := p.flush(ctx); err != nil {
		return err
	}
	p.changing += time.Since(begin)
	for _, t := range p.tables {
		if t.sums, err = store.Reduce(ctx, t.items, add, sums.plus); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) flush(ctx context.Context) error {
	begin := time.Now()
	report, err := p.store.Flush(ctx)
	if err != nil {
		return err
	}
	if report.Total.Commands() > 0 {
		p.flushes.Add(time.Since(begin))
		p.epochs++
	}
	p.report = report
	p.depleted += report.Total.Depleted
	return p.settle()
}

// age counts the pass in every item, in place.
func age(_ context.Context, c store.Chunk[item]) error {
	for i := range c.Items {
		c.Items[i].Age++
	}
	return nil
}

// add sums up a chunk.
func add(_ context.Context, r store.Rows[item]) (sums, error) {
	s := sums{Items: uint64(len(r.Items))}
	for i := range r.Items {
		it := &r.Items[i]
		s.Keys += it.Key
		s.Versions += uint64(it.Version)
		s.Ages += uint64(it.Age)
	}
	return s, nil
}

// lookup returns the item that the player holds under an object's number.
func (p *player) lookup(table uint16, object uint32) (item, bool) {
	it, ok := p.byTable[table].items.Get(p.held[object].handle)
	if !ok {
		return item{}, false
	}
	return *it, true
}
