package main

import (
	"context"
	"fmt"
	"time"

	"handloom/internal/histogram"
	"handloom/internal/trace"
	"handloom/proof/runner"
	"handloom/store"
)

// player replays a trace on one store. Players differ only in the number of
// workers.
type player struct {
	workers int
	ctx     context.Context // carries the team; not ended by an interrupt, because ticks are finished
	store   *store.Store
	tables  []*table
	byTable [trace.MaxTable + 1]*table
	parts   [tasks]section

	tick     int
	report   *store.Report // last flush
	epochs   int           // flushes with commands
	depleted int           // slots, according to the reports
	digest   uint64

	busy    time.Duration       // time in the phases of ticks, without checks and digests
	flushes histogram.Histogram // of flushes with commands
}

func newPlayer(workers int) (*player, error) {
	s := store.New(store.Options{Workers: workers})
	p := &player{workers: workers, store: s}
	for i := range p.parts {
		p.parts[i].held = make(map[name]entry)
	}
	return p, nil
}

func (p *player) register(number uint16, shards int) error {
	return runner.PanicOf(func() {
		t := store.Register(p.store, store.TableOptions[item]{Name: fmt.Sprintf("table %d", number), Shards: shards})
		p.byTable[number] = &table{number: number, items: t}
		p.tables = append(p.tables, p.byTable[number])
	})
}

// play replays one tick. Every other tick is one Frame; in the others, each
// phase passes the gate.
func (p *player) play(tick int, events *[tasks][]trace.Event) error {
	p.tick = tick
	begin := time.Now()
	err := p.whole(events)
	p.busy += time.Since(begin)
	if err != nil {
		return err
	}
	p.digest, err = p.store.Digest(p.ctx)
	return err
}

func (p *player) whole(events *[tasks][]trace.Event) error {
	if p.tick%2 != 0 {
		return p.phases(p.ctx, events)
	}
	_, err := p.store.Frame(p.ctx, func(ctx context.Context, _ *store.Writer) error {
		return p.phases(ctx, events)
	})
	return err
}

// phases runs a tick: age, record, flush, sum.
func (p *player) phases(ctx context.Context, events *[tasks][]trace.Event) error {
	for _, t := range p.tables {
		if err := t.items.ForEach(ctx, age); err != nil {
			return err
		}
	}
	err := p.store.Each(ctx, tasks, func(task int, q store.Queue) {
		q.Fail(p.record(&p.parts[task], events[task], q))
	})
	if err != nil {
		return err
	}
	if err := p.flush(ctx); err != nil {
		return err
	}
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
	return p.resolveCreates()
}

func age(c store.Chunk[item]) {
	for i := range c.Items {
		c.Items[i].Age++
	}
}

func add(r store.Chunk[item]) sums {
	s := sums{Items: uint64(len(r.Items))}
	for i := range r.Items {
		it := &r.Items[i]
		s.Keys += it.Key
		s.Versions += uint64(it.Version)
		s.Ages += uint64(it.Age)
	}
	return s
}

func (p *player) lookup(n name) (item, bool) {
	it, ok := p.byTable[n.table].items.Get(p.parts[n.task()].held[n].handle)
	if !ok {
		return item{}, false
	}
	return *it, true
}
