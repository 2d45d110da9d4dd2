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

	mutex   sync.Mutex
	all     [playerCount]player
	crossed int
	longest time.Duration // wait for an answer; the page and each kill begin it again
}

type player struct {
	sent, done uint64    // numbers of orders
	since      time.Time // zero: the last order is answered
}

// answered returns the number of answered orders.
func (p *players) answered() (n uint64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, one := range p.all {
		n += one.done
	}
	return n
}

// wait returns the longest wait, and the longest one that is open. After begin only open waits and
// new ones count.
func (p *players) wait(begin bool) (longest, open time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if begin {
		p.longest = 0
	}
	for _, one := range p.all {
		if !one.since.IsZero() {
			open = max(open, time.Since(one.since))
		}
	}
	return max(p.longest, open), open
}

// play sends orders of player i, each until it is answered, and follows the runner from cell to cell.
func (p *players) play(ctx context.Context, i int, random *rand.Rand) {
	o := order{Player: uint64(i), Heading: random.Int32N(4)}
	at, one := cells.ID(1+i%fieldCells), &p.all[i]
	turn := time.NewTicker(orderEvery)
	defer turn.Stop()
	for ctx.Err() == nil {
		o.Number++
		if random.IntN(8) == 0 {
			o.Heading = random.Int32N(4)
		}
		p.mutex.Lock()
		one.sent, one.since = o.Number, time.Now()
		p.mutex.Unlock()
		next := p.order(ctx, at, o)
		if next == 0 {
			return
		}
		p.mutex.Lock()
		p.longest = max(p.longest, time.Since(one.since))
		one.done, one.since = o.Number, time.Time{}
		if next != at {
			p.crossed++
		}
		p.mutex.Unlock()
		at = next
		select {
		case <-turn.C:
		case <-ctx.Done():
		}
	}
}

// order returns the runner's cell after an order to its cell, or 0 if ctx ends. A runner that
// crosses arrives a moment later. After an error the answer may be lost, so other cells are asked
// for it, too.
func (p *players) order(ctx context.Context, at cells.ID, o order) (next cells.ID) {
	body, _ := json.Marshal(o)
	for tries := 1; ctx.Err() == nil; tries++ {
		reply, err := p.client.Call(ctx, at, body)
		if err == nil && json.Unmarshal(reply, &next) == nil && next != 0 {
			return next
		}
		if o.Number > 1 && tries%100 == 0 {
			at = at%fieldCells + 1
		}
		time.Sleep(askAgain)
	}
	return 0
}

// look returns the runners of a cell.
func (p *players) look(ctx context.Context, cell int) (all []runner, err error) {
	reply, err := p.client.Call(ctx, cells.ID(cell+1), nil)
	if err == nil {
		err = json.Unmarshal(reply, &all)
	}
	return all, err
}

// judge compares the runners of all cells with the answers, after all players have ended. It waits
// for runners that cross.
func (p *players) judge(ctx context.Context) (faults []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(askAgain) {
		found := make(map[uint64][]runner)
		for cell := range fieldCells {
			all, err := p.look(ctx, cell)
			if err != nil {
				return nil, err
			}
			for _, r := range all {
				found[r.Player] = append(found[r.Player], r)
			}
		}
		if faults = p.compare(found); len(faults) == 0 || time.Now().After(until) {
			return faults, nil
		}
	}
}

// compare returns differences between the answers and the runners, by player.
func (p *players) compare(found map[uint64][]runner) (faults []string) {
	for i, one := range p.all {
		switch all := found[uint64(i)]; {
		case len(all) != 1 && one.done > 0, len(all) > 1:
			faults = append(faults, fmt.Sprintf("player %d has %d runners, want 1", i, len(all)))
		case len(all) == 1 && (all[0].Done < one.done || all[0].Done > one.sent):
			faults = append(faults, fmt.Sprintf("player %d: %d orders carried out, want %d to %d", i, all[0].Done, one.done, one.sent))
		}
	}
	return faults
}
