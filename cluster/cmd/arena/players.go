package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"handloom/cluster/internal/arenagame"
)

const (
	orderEvery = 100 * time.Millisecond // of one player
	orderTakes = time.Second            // at most, until it is sent again
)

// players send orders, one after the other, each until a node says that it was carried
// out. They look for the owner among the nodes.
type players struct {
	fleet  *fleet
	client http.Client
	all    sync.WaitGroup

	lock   sync.Mutex
	acked  []uint64  // by player: orders that a node said were carried out
	again  int       // times an order was sent again
	last   time.Time // when some order was
	pause  time.Duration
	longer []time.Duration // pauses of all players together that are worth a word
	owner  int             // node that took an order the last time
}

// worthAWord is from when on a pause is one.
const worthAWord = 250 * time.Millisecond

func newPlayers(f *fleet, n int) *players {
	return &players{fleet: f, acked: make([]uint64, n), client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}}
}

// start has everybody play until ctx ends.
func (p *players) start(ctx context.Context, seed uint64) {
	for i := range p.acked {
		p.all.Go(func() { p.play(ctx, uint64(i), rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
}

// wait returns when nobody plays any more.
func (p *players) wait() {
	p.all.Wait()
	p.client.CloseIdleConnections()
}

func (p *players) play(ctx context.Context, player uint64, r *rand.Rand) {
	o := arenagame.Order{Player: player, Turn: arenagame.Heading(r.IntN(4))}
	turn := time.NewTicker(orderEvery)
	defer turn.Stop()
	for ctx.Err() == nil {
		o.Number++
		if r.IntN(6) == 0 {
			o.Turn = arenagame.Heading(r.IntN(4))
		}
		o.Step, o.Fire = r.IntN(4) > 0, r.IntN(5) == 0
		for !p.send(ctx, o) {
			if ctx.Err() != nil {
				return
			}
			p.lock.Lock()
			p.again++
			p.lock.Unlock()
		}
		p.carriedOut(o)
		select {
		case <-turn.C:
		case <-ctx.Done():
		}
	}
}

// send offers an order to one node after the other, and reports whether one carried it
// out. When none did, it may yet be: it is sent again as it is.
func (p *players) send(ctx context.Context, o arenagame.Order) bool {
	body, _ := json.Marshal(o)
	p.lock.Lock()
	first := p.owner
	p.lock.Unlock()
	for k := range nodes {
		i := (first + k) % nodes
		url := p.fleet.url(i)
		if url == "" {
			continue
		}
		if p.offer(ctx, url+"order", body) {
			p.lock.Lock()
			p.owner = i
			p.lock.Unlock()
			return true
		}
	}
	select { // nobody owns the log, so that there is time
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
	}
	return false
}

func (p *players) offer(ctx context.Context, url string, body []byte) bool {
	ctx, end := context.WithTimeout(ctx, orderTakes)
	defer end()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return false
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

func (p *players) carriedOut(o arenagame.Order) {
	p.lock.Lock()
	defer p.lock.Unlock()
	now := time.Now()
	if pause := now.Sub(p.last); !p.last.IsZero() {
		p.pause = max(p.pause, pause)
		if pause > worthAWord {
			p.longer = append(p.longer, pause)
		}
	}
	p.last = now
	p.acked[o.Player] = o.Number
}

// lost compares what was carried out with what the arena says, and names the first order
// that it does not have.
func (p *players) lost(fighters []arenagame.Fighter) (lost int, first string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	done := make(map[uint64]uint64, len(fighters))
	for _, f := range fighters {
		done[f.Player] = f.Done
	}
	for player, acked := range p.acked {
		if has := done[uint64(player)]; has < acked {
			lost += int(acked - has)
			if first == "" {
				first = fmt.Sprintf("order %d of player %d was answered, and the arena has %d", acked, player, has)
			}
		}
	}
	return lost, first
}
