package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"handloom/internal/trace"
)

const (
	fullEvery     = 16 // ticks between full checks
	maxMismatches = 8
)

var errInterrupted = errors.New("interrupted")

// fault makes a player miss an event, for tests. A nil fault misses none.
type fault func(workers, tick int, e trace.Event) bool

// replay runs one trace on several players in lock step, so that live items and
// the longest tick bound the memory.
type replay struct {
	name    string
	shards  int
	fault   fault
	onTick  func(*replay)
	model   *model
	players []*player

	events     int
	full       int
	mismatches []mismatch
	split      [tasks][]trace.Event
}

func newReplay(name string, workers []int, shards int) (*replay, error) {
	r := &replay{name: name, shards: shards, model: newModel(), onTick: func(*replay) {}}
	for _, w := range workers {
		p, err := newPlayer(w)
		if err != nil {
			return nil, err
		}
		r.players = append(r.players, p)
	}
	return r, nil
}

// run replays the trace in in. It returns nil at the end or at the first tick
// with mismatches, a [*trace.Error] for an invalid trace, and errInterrupted
// when ctx ends.
func (r *replay) run(ctx context.Context, in io.Reader) error {
	reader, err := trace.NewReader(in, r.name)
	if err != nil {
		return err
	}
	err = r.withTeams(ctx, r.players, func() error { return r.ticks(ctx, reader) })
	for _, p := range r.players {
		if _, closing := p.store.Close(context.WithoutCancel(ctx)); closing != nil && err == nil {
			err = closing
		}
	}
	return err
}

func (r *replay) withTeams(ctx context.Context, players []*player, f func() error) error {
	if len(players) == 0 {
		return f()
	}
	p := players[0]
	return p.store.Team(context.WithoutCancel(ctx), func(team context.Context) error {
		p.ctx = team
		return r.withTeams(ctx, players[1:], f)
	})
}

func (r *replay) ticks(ctx context.Context, reader *trace.Reader) error {
	checker := trace.NewChecker(r.name)
	for events, err := range reader.Ticks() {
		if ctx.Err() != nil {
			r.finish()
			return errInterrupted
		}
		if err == nil {
			err = checker.CheckBatch(events)
		}
		if err == nil {
			err = r.register(events)
		}
		if err != nil {
			return err
		}
		if r.tick(events); len(r.mismatches) > 0 {
			return nil
		}
		r.onTick(r)
	}
	if r.model.tick == 0 {
		return &trace.Error{File: r.name, Line: 1, Reason: "the trace is empty: nothing follows its first line"}
	}
	r.finish()
	return nil
}

func (r *replay) register(events []trace.Event) error {
	for _, e := range events {
		if !r.model.register(e.Table) {
			continue
		}
		for _, p := range r.players {
			if err := p.register(e.Table, r.shards); err != nil {
				return &trace.Error{File: r.name, Line: e.Line, Reason: fmt.Sprintf("table %d does not fit: %v", e.Table, err), Err: err}
			}
		}
	}
	return nil
}

func (r *replay) tick(events []trace.Event) {
	r.model.play(events)
	r.events += len(events)
	for _, p := range r.players {
		r.deal(events, p)
		if err := p.play(r.model.tick, &r.split); err != nil {
			r.differ(p.workers, err.Error())
		}
	}
	if len(r.mismatches) == 0 {
		r.check(r.model.tick%fullEvery == 0)
	}
}

func (r *replay) deal(events []trace.Event, p *player) {
	for i := range r.split {
		r.split[i] = r.split[i][:0]
	}
	for _, e := range events {
		if r.fault == nil || !r.fault(p.workers, r.model.tick, e) {
			task := name{e.Table, e.Key}.task()
			r.split[task] = append(r.split[task], e)
		}
	}
}

func (r *replay) check(full bool) {
	for _, p := range r.players[1:] {
		if what := compare(r.players[0], p); what != "" {
			r.differ(0, what)
		}
	}
	for _, p := range r.players {
		err := checkTick(r.model, p)
		if err == nil && full {
			err = checkAll(r.model, p)
		}
		if err != nil {
			r.differ(p.workers, err.Error())
		}
	}
	if full {
		r.full++
	}
}

func (r *replay) finish() {
	if r.model.tick%fullEvery != 0 {
		r.check(true)
	}
}

func (r *replay) differ(workers int, what string) {
	if len(r.mismatches) < maxMismatches {
		r.mismatches = append(r.mismatches, mismatch{Tick: r.model.tick, Workers: workers, What: what})
	}
}
