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
	mutex sync.Mutex
	all   [playerCount]player
	sum   tally
}

type player struct {
	sent, done uint64    // numbers of orders
	since      time.Time // zero: the last order is answered
}

// A tally counts the orders of all players, and their waits for an answer.
type tally struct {
	Answered, Crossed uint64
	Longest, Open     time.Duration // Longest: since the last kill
}

// tally returns the present tally. After begin only open waits and new ones count.
func (p *players) tally(begin bool) tally {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if begin {
		p.sum.Longest = 0
	}
	t := p.sum
	for _, one := range p.all {
		if !one.since.IsZero() {
			t.Open = max(t.Open, time.Since(one.since))
		}
	}
	t.Longest = max(t.Longest, t.Open)
	return t
}

// play sends orders of player i, each until it is answered, and follows the runner from cell to cell.
func (p *players) play(ctx context.Context, c *cluster.Client, i int, random *rand.Rand) {
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
		next := send(ctx, c, at, o)
		if next == 0 {
			return
		}
		p.mutex.Lock()
		p.sum.Answered++
		if next != at {
			p.sum.Crossed++
		}
		p.sum.Longest = max(p.sum.Longest, time.Since(one.since))
		one.done, one.since = o.Number, time.Time{}
		p.mutex.Unlock()
		at = next
		select {
		case <-turn.C:
		case <-ctx.Done():
		}
	}
}

// send returns the runner's cell after an order to its cell, or 0 if ctx ends. A runner that
// crosses arrives a moment later. After an error the answer may be lost, so other cells are asked
// for it, too.
func send(ctx context.Context, c *cluster.Client, at cells.ID, o order) (next cells.ID) {
	body, _ := json.Marshal(o)
	for tries := 1; ctx.Err() == nil; tries++ {
		reply, err := c.Call(ctx, at, body)
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
func look(ctx context.Context, c *cluster.Client, cell int) (all []runner, err error) {
	reply, err := c.Call(ctx, cells.ID(cell+1), nil)
	if err == nil {
		err = json.Unmarshal(reply, &all)
	}
	return all, err
}

// judge compares the runners of all cells with the answers, after all players have ended. It waits
// for runners that cross.
func (p *players) judge(ctx context.Context, c *cluster.Client, fault func(format string, args ...any)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(askAgain) {
		found := make(map[uint64][]runner)
		for cell := range fieldCells {
			all, err := look(ctx, c, cell)
			if err != nil {
				return err
			}
			for _, r := range all {
				found[r.Player] = append(found[r.Player], r)
			}
		}
		faults := p.compare(found)
		if len(faults) > 0 && time.Now().Before(until) {
			continue
		}
		for _, text := range faults {
			fault("%s", text)
		}
		return nil
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
