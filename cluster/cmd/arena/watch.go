package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A watch asks the nodes how they do, a few times a second, and keeps what happened.
type watch struct {
	fleet  *fleet
	client http.Client
	begin  time.Time

	lock     sync.Mutex
	nodes    [nodes]seen
	owner    int // node that owns the log, -1 while there is none
	term     uint32
	tick     uint64            // the newest
	sums     map[uint64]agreed // by tick
	compared int               // ticks of a node whose digest another one had as well
	differs  string            // the first digests that differ
	happened []event           // newest last
}

// agreed is the digest of a tick, and which nodes have it, by bit.
type agreed struct {
	sum uint64
	by  uint8
}

// seen is what is known of a node.
type seen struct {
	Up      bool
	Workers int
	Kills   int
	Said    string // why it is down, if it says
	nodeStatus
}

// event is something that happened.
type event struct {
	At   time.Duration // since the begin
	What string
}

const (
	watchEvery  = 100 * time.Millisecond
	watchTakes  = 500 * time.Millisecond
	keepEvents  = 200
	keepSums    = 2000 // ticks that a node may be behind and its digests are still compared
	sayDecimals = 10 * time.Millisecond
)

func newWatch(f *fleet) *watch {
	return &watch{fleet: f, begin: time.Now(), owner: -1, sums: make(map[uint64]agreed)}
}

// run asks until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.client.CloseIdleConnections()
	for {
		w.ask(ctx)
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return
		}
	}
}

// ask asks all nodes once.
func (w *watch) ask(ctx context.Context) {
	var answers [nodes]seen
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = w.askNode(ctx, i) })
	}
	all.Wait()
	w.lock.Lock()
	defer w.lock.Unlock()
	w.nodes = answers
	for i := range answers {
		w.compare(i)
	}
	w.whoOwns()
}

func (w *watch) askNode(ctx context.Context, i int) seen {
	p := w.fleet.process(i)
	s := seen{Workers: workersOf[i], Kills: p.kills, Said: p.said}
	if p.url == "" {
		return s
	}
	ctx, end := context.WithTimeout(ctx, watchTakes)
	defer end()
	s.Up = get(ctx, &w.client, p.url+"status", &s.nodeStatus) == nil
	return s
}

// get reads the JSON at url into into.
func get(ctx context.Context, c *http.Client, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := c.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// compare looks whether the digests of node i are those of the others.
func (w *watch) compare(i int) {
	n := &w.nodes[i]
	for _, d := range n.Digests {
		a, known := w.sums[d.Tick]
		switch {
		case !known:
			a.sum = d.Sum
			delete(w.sums, d.Tick-keepSums)
		case a.sum == d.Sum && a.by&(1<<i) == 0:
			w.compared++
		case a.sum != d.Sum && w.differs == "":
			w.differs = fmt.Sprintf("the state of node %d behind tick %d is another one: %x, not %x", i+1, d.Tick, d.Sum, a.sum)
			w.note(w.differs)
		}
		a.by |= 1 << i
		w.sums[d.Tick] = a
	}
	w.tick = max(w.tick, n.World.Tick)
	if n.Up && n.World.Halted != "" && w.differs == "" {
		w.differs = fmt.Sprintf("node %d has halted: %s", i+1, n.World.Halted)
		w.note(w.differs)
	}
}

// whoOwns tells a change of owner.
func (w *watch) whoOwns() {
	owner := -1
	for i, n := range w.nodes {
		if n.Up && n.World.Owner && (owner < 0 || n.World.Term > w.nodes[owner].World.Term) {
			owner = i
		}
	}
	if owner < 0 || owner == w.owner && w.nodes[owner].World.Term == w.term {
		return
	}
	w.owner, w.term = owner, w.nodes[owner].World.Term
	w.note(fmt.Sprintf("node %d owns the arena: term %d", owner+1, w.term))
}

// say notes what happened.
func (w *watch) say(what string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.note(what)
}

// note is say with the lock held.
func (w *watch) note(what string) {
	if len(w.happened) == keepEvents {
		w.happened = slices.Delete(w.happened, 0, keepEvents/2)
	}
	w.happened = append(w.happened, event{time.Since(w.begin).Round(sayDecimals), what})
}

// settled reports whether every node plays and none is behind by much.
func (w *watch) settled() bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, n := range w.nodes {
		if !n.Up || n.World.Tick+keepDigests/2 < w.tick {
			return false
		}
	}
	return w.owner >= 0 && w.tick > 0
}

// arena returns the arena of a node that is up, the owner's if it can be had.
func (w *watch) arena(ctx context.Context) (f field, err error) {
	w.lock.Lock()
	owner := max(0, w.owner)
	w.lock.Unlock()
	err = fmt.Errorf("no node is up")
	for k := range nodes {
		url := w.fleet.url((owner + k) % nodes)
		if url == "" {
			continue
		}
		ctx, end := context.WithTimeout(ctx, watchTakes)
		err = get(ctx, &w.client, url+"field", &f)
		end()
		if err == nil {
			return f, nil
		}
	}
	return f, err
}

// ownerNow returns the node that owned the log last.
func (w *watch) ownerNow() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return max(0, w.owner)
}
