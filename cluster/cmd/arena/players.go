package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"handloom/cluster"
	"handloom/cluster/cells"
)

const (
	playerCount = 24
	orderEvery  = 100 * time.Millisecond
	askAgain    = 10 * time.Millisecond
)

// players sends the orders of all players.
type players struct {
	client *cluster.Client

	mutex    sync.Mutex
	all      [playerCount]player
	answered int
	crossed  int
	longest  time.Duration // wait for an answer since begin
}

type player struct {
	sent, done uint64    // numbers of orders
	since      time.Time // of the order without an answer; zero: none
}

// begin starts a measurement of waits. An open one counts from its begin.
func (p *players) begin() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.longest = 0
}

// wait returns the longest wait since begin, and the longest one that is open.
func (p *players) wait() (longest, open time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, one := range p.all {
		if !one.since.IsZero() {
			open = max(open, time.Since(one.since))
		}
	}
	return max(p.longest, open), open
}

func (p *players) note(i int, change func(one *player)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change(&p.all[i])
}

// play sends orders of player i, each until it is answered, and follows the fighter from cell to cell.
func (p *players) play(ctx context.Context, i int, random *rand.Rand) {
	o := order{Player: uint64(i), Turn: heading(random.IntN(4))}
	at := cells.ID(1 + i%fieldCells)
	turn := time.NewTicker(orderEvery)
	defer turn.Stop()
	for ctx.Err() == nil {
		o.Number++
		if random.IntN(8) == 0 {
			o.Turn = heading(random.IntN(4))
		}
		o.Step, o.Fire = random.IntN(4) > 0, random.IntN(5) == 0
		p.note(i, func(one *player) { one.sent, one.since = o.Number, time.Now() })
		next := p.order(ctx, at, o)
		if next == 0 {
			return
		}
		p.note(i, func(one *player) {
			p.longest = max(p.longest, time.Since(one.since))
			one.done, one.since = o.Number, time.Time{}
			if p.answered++; next != at {
				p.crossed++
			}
		})
		at = next
		select {
		case <-turn.C:
		case <-ctx.Done():
		}
	}
}

// order returns the fighter's cell after an order to its cell, or 0 if ctx ends. A fighter that
// crosses arrives a moment later. After an error the answer may be lost, so other cells are asked
// for it, too.
func (p *players) order(ctx context.Context, at cells.ID, o order) (next cells.ID) {
	body, _ := json.Marshal(o)
	for tries := 0; ctx.Err() == nil; tries++ {
		reply, err := p.client.Call(ctx, at, body)
		if err == nil && json.Unmarshal(reply, &next) == nil && next != 0 {
			return next
		}
		if o.Number > 1 && tries%100 == 99 {
			at = at%fieldCells + 1
		}
		time.Sleep(askAgain)
	}
	return 0
}

// look returns the fighters of a cell.
func (p *players) look(ctx context.Context, cell cells.ID) (all []fighter, err error) {
	reply, err := p.client.Call(ctx, cell, nil)
	if err == nil {
		err = json.Unmarshal(reply, &all)
	}
	return all, err
}

// judge compares the fighters of all cells with the answers, after all players have ended. It
// waits for fighters that cross.
func (p *players) judge(ctx context.Context) (faults []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(askAgain) {
		found := make(map[uint64][]fighter)
		for cell := cells.ID(1); cell <= fieldCells; cell++ {
			all, err := p.look(ctx, cell)
			if err != nil {
				return nil, err
			}
			for _, f := range all {
				found[f.Player] = append(found[f.Player], f)
			}
		}
		faults = faults[:0]
		for i, one := range p.all {
			all := found[uint64(i)]
			switch {
			case len(all) != 1 && one.done > 0, len(all) > 1:
				faults = append(faults, fmt.Sprintf("player %d has %d fighters, want 1", i, len(all)))
			case len(all) == 1 && (all[0].Done < one.done || all[0].Done > one.sent):
				faults = append(faults, fmt.Sprintf("player %d: %d orders carried out, want %d to %d", i, all[0].Done, one.done, one.sent))
			}
		}
		if len(faults) == 0 || time.Now().After(until) {
			return faults, nil
		}
	}
}
